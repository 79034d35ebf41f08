import { loadRecordedHistory, loadSimulatedHistory, renderSizing } from '../src/tools/model-document.ts';
import type { Benchmark } from './lib.ts';

/** What the width of the forecast is worth to the size of a position. */
export const SIZING: Benchmark = {
  name: 'sizing',
  what: 'a holder whose size follows the width of the forecast, against a constant size and one by EWMA; --data <folder> for real days',
  async run({ data, report }) {
    const { source, frame } = data === undefined ? await loadSimulatedHistory() : await loadRecordedHistory(data);
    report(`${source}\n\n${renderSizing(frame)}`);
    return [];
  },
};
