/** Text measurement for SVG, which does not wrap text. */

const FONT_SIZE = 12;
const FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
/** @type {CanvasRenderingContext2D | null} */
let context = null;

/** @param {string} text */
export function measureTextWidth(text, { size = FONT_SIZE, weight = 400 } = {}) {
  context ??= document.createElement('canvas').getContext('2d');
  if (context === null) return text.length * size * 0.6;
  context.font = `${weight} ${size}px ${FAMILY}`;
  return context.measureText(text).width;
}

/** @param {string} text @param {number} width @param {{ size?: number, weight?: number }} [font] @returns {string[]} */
export function wrapText(text, width, font) {
  /** @type {string[]} */
  const lines = [];
  for (const word of text.split(' ').filter((part) => part !== '')) {
    const longer = lines.length === 0 ? word : `${lines[lines.length - 1]} ${word}`;
    if (lines.length > 0 && measureTextWidth(longer, font) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
