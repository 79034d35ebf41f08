/** Text measurement for SVG, which does not wrap text. */

const FONT_SIZE = 12;
const FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
let context: CanvasRenderingContext2D | null = null;

export function measureTextWidth(text: string, { size = FONT_SIZE, weight = 400 } = {}) {
  if (typeof document === 'undefined') return text.length * size * 0.6;
  context ??= document.createElement('canvas').getContext('2d');
  if (context === null) return text.length * size * 0.6;
  context.font = `${weight} ${size}px ${FAMILY}`;
  return context.measureText(text).width;
}

export function wrapText(text: string, width: number, font?: { size?: number; weight?: number }): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').filter((part) => part !== '')) {
    const longer = lines.length === 0 ? word : `${lines[lines.length - 1]} ${word}`;
    if (lines.length > 0 && measureTextWidth(longer, font) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
