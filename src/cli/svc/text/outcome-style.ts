import type { Cell, Style } from './style.ts';

const VALUE_STYLES: Record<string, Style> = {
  ...{ WIN: 'green', BUY: 'green', UP: 'green', LOSS: 'red', SELL: 'red', DOWN: 'red' },
  ...{ HOLD: 'yellow', GATED: 'yellow', PENDING: 'dim', VOID: 'dim' },
};

/** A word of the record in its colour. */
export function styleValue(word: string): Cell {
  const style = VALUE_STYLES[word];
  return style === undefined ? word : { text: word, style };
}
