import { findChromium, launchChromium } from '../../test/support/docs/browser.ts';
import { type Benchmark, type Comparison, type FigureComparison, interleaved } from '../benchmark.ts';
import { withFolder } from '../process/service-folder.ts';
import { type Load, loadOnce } from './load.ts';

const REPLAY_DAYS = 120;
const GOAL_MS = 1_000;
const CALL_GOAL_MS = 2_000;

const DESKTOP = { width: 1_440, height: 900 };
const PHONE = { width: 390, height: 844 };
const SLOW = { latencyMs: 150, bytesPerSecond: 200_000 };

/** The page of the demonstration beside a small answer, in a real browser with nothing in its cache. */
export const PAGE: Benchmark = {
  name: 'page',
  what: `the page with ${REPLAY_DAYS} replayed days: paint, words, bytes and layout shift, beside an answer of a few bytes from the same process`,
  async run({ rounds, report }): Promise<Comparison[]> {
    const path = findChromium();
    if (path === undefined) {
      report('  there is no Chromium here: nothing is measured');
      return [];
    }
    const browser = await launchChromium(path);
    try {
      return await withFolder(async (start) => {
        const { url } = await start({ REPLAY_DAYS: String(REPLAY_DAYS) });
        const sides = {
          desktop: () => loadOnce(browser, url, DESKTOP),
          phone: () => loadOnce(browser, url, PHONE),
          slow: () => loadOnce(browser, url, { ...DESKTOP, network: SLOW }),
          baseline: () => loadOnce(browser, `${url}/health`, DESKTOP),
          slowBaseline: () => loadOnce(browser, `${url}/health`, { ...DESKTOP, network: SLOW }),
        };
        return compareLoads(await interleaved(sides, { rounds, report }));
      });
    } finally {
      await browser.close();
    }
  },
};

type Loads = Readonly<Record<'desktop' | 'phone' | 'slow' | 'baseline' | 'slowBaseline', readonly Load[]>>;

function compareLoads({ desktop, phone, slow, baseline, slowBaseline }: Loads): Comparison[] {
  const paints = (loads: readonly Load[]) => loads.map(({ firstPaintMs }) => firstPaintMs);
  return [
    { kind: 'time', work: 'first paint', meaning: 'On loopback.', ours: paints(desktop), baseline: paints(baseline), goalMs: GOAL_MS },
    {
      kind: 'time',
      work: `the call painted at ${SLOW.latencyMs} ms and ${SLOW.bytesPerSecond / 1_000} kB/s`,
      meaning: 'The baseline is the first paint of the small answer.',
      ours: slow.map(({ callPaintedMs }) => callPaintedMs ?? Number.POSITIVE_INFINITY),
      baseline: paints(slowBaseline),
      goalMs: CALL_GOAL_MS,
    },
    figure('transferred, kB', 'Everything that the page loads, compressed, with headers.', 150, desktop, ({ bytes }) => bytes / 1_000),
    figure('words in the first fold, 1440x900', 'Text that is drawn before anything is scrolled.', 60, desktop, ({ words }) => words.fold),
    figure('words in the first fold, 390x844', 'The same on a phone.', 60, phone, ({ words }) => words.fold),
    figure('words of the page', 'Before a tab is opened.', 900, desktop, ({ words }) => words.page),
    figure('screens of 1440x900', 'Height of the document.', 4, desktop, ({ screens }) => screens, 1),
    figure(
      'layout shift',
      'Cumulative (CLS), of a desktop, a phone and the slow network.',
      0.05,
      [...desktop, ...phone, ...slow],
      ({ shift }) => shift,
      3,
    ),
  ];
}

function figure(
  what: string,
  meaning: string,
  goal: number,
  loads: readonly Load[],
  read: (load: Load) => number,
  digits = 0,
): FigureComparison {
  return { kind: 'figure', what, meaning, goal, digits, ours: loads.map(read) };
}
