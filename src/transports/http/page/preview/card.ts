import { IDENTITY } from '../../../../../agent-card/identity.ts';
import { el, type Markup, renderMarkup } from '../../../../views/markup.ts';

/** Pixels that link previews expect. */
export const CARD_SIZE = { width: 1_200, height: 630 } as const;

/** The dark scheme of the page. */
const STYLE = [
  'text{font-family:Cantarell;fill:#e8e6e1}',
  '.quiet{fill:#a3a8b2}',
  '.strong{font-weight:700}',
  '.good{fill:#4ade80}',
  '.bad{fill:#f87171}',
  '.chart text{font-size:11px;fill:#a3a8b2}',
  '.chart text.label{fill:#e8e6e1;font-weight:700}',
  '.grid line{stroke:#363b45}',
  '.since{stroke:#e8e6e1;stroke-dasharray:2 3}',
  '.price-line{fill:none;stroke:#e8e6e1;stroke-width:2}',
  '.band{fill:#93b4ff;fill-opacity:.2;stroke:#93b4ff;stroke-width:.6}',
  '.inside{fill:#14161a;stroke:#e8e6e1;stroke-width:2}',
  '.outside{fill:#fbbf24}',
  '.axis{stroke:#363b45;stroke-width:4}',
  '.interval{stroke:#93b4ff;stroke-width:10}',
  '.estimate{fill:#e8e6e1}',
  '.reference{stroke:#fbbf24;stroke-width:6}',
].join('');

export interface CardText {
  text: string;
  y: number;
  size: number;
  className?: string;
}

/** An image of the service as SVG: its name, lines of text, and a drawing. */
export function renderCard(lines: readonly CardText[], drawing: Markup = null): string {
  const { width, height } = CARD_SIZE;
  return renderMarkup(
    el('svg', { xmlns: 'http://www.w3.org/2000/svg', width, height, viewBox: `0 0 ${width} ${height}` }, [
      el('style', {}, STYLE),
      el('rect', { width, height, fill: '#14161a' }),
      el('rect', { width: 16, height, fill: '#fbbf24' }),
      [{ text: IDENTITY.name, y: 96, size: 34, className: 'quiet' }, ...lines].map(renderLine),
      drawing,
    ]),
  );
}

/** The font has no minus sign. */
function renderLine({ text, y, size, className }: CardText): Markup {
  return el('text', { x: 76, y, 'font-size': size, class: className }, text.replaceAll('−', '-'));
}
