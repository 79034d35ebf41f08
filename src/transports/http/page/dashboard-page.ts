import type { InitialData } from '../../../views/first-screen/first-screen-data.ts';
import { type OriginKind, renderOriginMark } from '../../../views/first-screen/origin-mark.ts';
import { el, type Markup } from '../../../views/markup.ts';
import { renderFeedLink } from '../record/feeds/feed-link.ts';
import { renderOembedLink } from '../widget/oembed-link.ts';
import { fillInitialData, INITIAL_DATA_BLOCK, renderTodaySection } from './home-section.ts';
import { renderRecordTags } from './preview/preview-tags.ts';
import { renderPage } from './shell.ts';

/** In their order. The first has the first screen; the script fills the others. */
const SECTIONS: readonly Section[] = [
  { id: 'today', title: "Today's call" },
  { id: 'scores', title: 'Skill' },
  { id: 'record', title: 'Record' },
  { id: 'attestations', title: 'Check' },
];

/** One is shown at a time, when it is chosen or its address is opened. */
const TABS: readonly (Section & { link: string })[] = [
  { id: 'price', title: 'Price and forecasts', link: 'Price' },
  { id: 'regimes', title: 'Market regimes', link: 'Regimes' },
  { id: 'accuracy', title: 'Accuracy by horizon and regime', link: 'Accuracy' },
  { id: 'calibration', title: 'Calibration and skill', link: 'Calibration' },
  { id: 'challenge', title: 'Champion and challenger', link: 'Models' },
  { id: 'crowd', title: 'Crowd against oracle', link: 'Crowd' },
  { id: 'wagers', title: 'Wagers', link: 'Wagers' },
  { id: 'self-tests', title: 'Self-tests', link: 'Self-tests' },
  { id: 'events', title: 'Live events', link: 'Events' },
  { id: 'feeds', title: 'Market data', link: 'Data' },
];

interface Section {
  id: string;
  title: string;
}

interface HomeContent {
  initial: InitialData;
  nowMs: number;
  market: OriginKind;
  /** Whether readers may view the page as one of the demo wallets. */
  hasDemo: boolean;
}

/** The dashboard, as far as it is the same for everyone. Without `home`: while the service starts. */
export function renderDashboardPage(publicUrl: string, home: HomeContent | null = null): string {
  const header = [el('div', { id: 'connection', role: 'status', 'data-state': 'starting' }), el('div', { id: 'account' })];
  const main = el('main', { id: 'main', tabindex: -1 }, [
    el('h1', {}, 'A Bitcoin forecast anyone can verify'),
    el('div', { id: 'setup' }),
    SECTIONS.map((section) =>
      section.id === 'today' ? [renderTodaySection(section, home), home?.hasDemo && el('div', { id: 'demo' })] : renderSection(section),
    ),
    renderTabs(),
    TABS.map((tab) => renderSection(tab, 'until-found')),
  ]);
  const document = renderPage(publicUrl, {
    path: '',
    kind: 'dashboard',
    head: [renderRecordTags(publicUrl), renderFeedLink(), renderOembedLink(publicUrl, '')],
    header,
    body: [renderOrigin(home), renderScriptNote(), main, home === null ? null : INITIAL_DATA_BLOCK],
    footer: renderFooter(),
  });
  return home === null ? document : fillInitialData(document, home.initial);
}

function renderOrigin(home: HomeContent | null): Markup {
  if (home === null) return el('div', { id: 'origin' });
  const mark = renderOriginMark(home.market, { isStale: false });
  return el('div', { id: 'origin', 'data-kind': home.market }, el('p', { class: 'origin-mark' }, mark));
}

function renderSection({ id, title }: Section, hidden?: 'until-found'): Markup {
  return el('section', { id, 'aria-labelledby': `${id}-title`, hidden }, [
    el('h2', { id: `${id}-title` }, title),
    el('div', { class: 'body' }),
  ]);
}

function renderTabs(): Markup {
  const links = TABS.map(({ id, link }) => el('a', { href: `#${id}`, 'aria-expanded': 'false', 'aria-controls': id }, link));
  return el('nav', { id: 'tabs', class: 'tabs', 'aria-labelledby': 'tabs-title' }, [el('h2', { id: 'tabs-title' }, 'More'), links]);
}

/** Appears by its style after some seconds, unless the script has run and removed it. */
function renderScriptNote(): Markup {
  return el('p', { id: 'script-note', class: 'notice late' }, [
    'The script of this page has not run, so parts are missing. The record is also at ',
    el('a', { href: 'api/svc/scorecard?horizon=7' }, '/api/svc/scorecard'),
    '; ',
    el('a', { href: 'docs' }, '/docs'),
    ' lists all operations.',
  ]);
}

function renderFooter(): Markup {
  return el('p', {}, [
    'Not financial advice. As JSON: ',
    el('a', { href: 'api/svc/scorecard?horizon=7' }, 'scorecard'),
    ', ',
    el('a', { href: 'api/svc/onchain-oracle/history' }, 'attestations'),
    ', ',
    el('a', { href: 'api/self-test/status' }, 'self-tests'),
    '; ',
    el('a', { href: 'docs' }, 'all operations'),
    '. ',
    el('a', { href: 'widget' }, 'Embed the forecast'),
    '.',
  ]);
}
