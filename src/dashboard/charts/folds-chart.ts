import { s } from '../lib/dom.ts';
import { buildLinePath, computeExtent, createChartSvg, createScale, renderHorizontalGrid, renderVerticalGrid } from './chart.ts';

interface Fold {
  fold: number;
  from: string;
  to: string;
  n: number;
  base: number;
  accuracy: number;
}

const MARGIN = { top: 12, right: 16, bottom: 26, left: 48 };
const HEIGHT = 220;

/** Accuracy of each fold beside that of always predicting UP. @param options `folds`: at least one, oldest first */
export function renderFoldsChart({ width, folds }: { width: number; folds: readonly Fold[] }) {
  const right = width - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  const x = createScale([0.5, folds.length + 0.5], [MARGIN.left, right]);
  const y = createScale(computeExtent([0.5, ...folds.flatMap(({ accuracy, base }) => [accuracy, base])], 0.1), [bottom, MARGIN.top], 4);
  const ticks = chooseYearTicks(folds, Math.floor((right - MARGIN.left) / 44)).map(({ index, label }) => ({ at: x(index + 1), label }));
  return createChartSvg(
    { width, height: HEIGHT },
    renderHorizontalGrid({ y, left: MARGIN.left, right, label: (value) => `${Math.round(100 * value)} %` }),
    renderVerticalGrid({ ticks, top: MARGIN.top, bottom, width }),
    s('line', { class: 'zero', x1: MARGIN.left, x2: right, y1: y(0.5), y2: y(0.5) }),
    folds.map(({ accuracy, base }, index) => {
      const at = x(index + 1);
      return s('g', {}, [
        s('path', {
          class: 'between',
          d: buildLinePath([
            [at, y(base)],
            [at, y(accuracy)],
          ]),
        }),
        s('line', { class: 'always-up', x1: at - 7, x2: at + 7, y1: y(base), y2: y(base) }),
        s('circle', { class: 'dot', cx: at.toFixed(1), cy: y(accuracy).toFixed(1), r: 4.5 }),
      ]);
    }),
  );
}

/** One tick per year at its first fold, thinned to `most`. */
function chooseYearTicks(folds: readonly Fold[], most: number) {
  const years = folds.flatMap(({ from }, index) => {
    const label = from.slice(0, 4);
    return index > 0 && folds[index - 1].from.startsWith(label) ? [] : [{ index, label }];
  });
  const every = Math.max(1, Math.ceil(years.length / most));
  return years.filter((_, index) => index % every === 0);
}
