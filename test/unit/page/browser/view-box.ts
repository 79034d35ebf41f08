import { isMarkupElement, type Markup, type MarkupElement } from '../../../../src/page/markup.ts';

/** Pixels that rounding of path data may add. */
const SLACK = 0.1;

/** Marks of a drawn chart that reach beyond its view box, labels included. */
export function findClipped(svg: MarkupElement, marks: Markup = null): string[] {
  const [width, height] = [Number(svg.attributes.width), Number(svg.attributes.height)];
  return [...listElements(svg.children), ...listElements(marks)].flatMap((element) => {
    const points = listCorners(element);
    const isInside = points.every(([x, y]) => x >= -SLACK && x <= width + SLACK && y >= -SLACK && y <= height + SLACK);
    return isInside ? [] : [`${element.tag} ${JSON.stringify(element.attributes)}: ${JSON.stringify(points)} in ${width} x ${height}`];
  });
}

function listElements(markup: Markup): MarkupElement[] {
  if (Array.isArray(markup)) return markup.flatMap(listElements);
  if (!isMarkupElement(markup)) return [];
  return [markup, ...listElements(markup.children)];
}

/** Extreme points of an element; NaN where an attribute is no number. */
function listCorners({ tag, attributes, children }: MarkupElement): [number, number][] {
  const at = (name: string) => Number(attributes[name]);
  if (tag === 'line')
    return [
      [at('x1'), at('y1')],
      [at('x2'), at('y2')],
    ];
  if (tag === 'circle')
    return [
      [at('cx') - at('r'), at('cy') - at('r')],
      [at('cx') + at('r'), at('cy') + at('r')],
    ];
  if (tag === 'rect')
    return [
      [at('x'), at('y')],
      [at('x') + at('width'), at('y') + at('height')],
    ];
  if (tag === 'path') return listPathPoints(String(attributes.d));
  if (tag !== 'text') return [];
  // Widths of text without a canvas, as in the code under test.
  const wide = String(children.flat()).length * 12 * 0.6;
  const start = { middle: 0.5, end: 1 }[String(attributes['text-anchor'])] ?? 0;
  return [
    [at('x') - start * wide, at('y')],
    [at('x') + (1 - start) * wide, at('y')],
  ];
}

/** Absolute `M` and `L`, relative `l` and `h`. */
function listPathPoints(data: string): [number, number][] {
  const points: [number, number][] = [];
  for (const [, command, numbers] of data.matchAll(/([MLlh])([^MLlhZz]*)/g)) {
    const [x, y = 0] = (numbers.match(/-?[\d.]+|NaN/g) ?? []).map(Number);
    const [lastX, lastY] = points.at(-1) ?? [0, 0];
    points.push(command === command.toUpperCase() ? [x, y] : [lastX + x, lastY + y]);
  }
  return points;
}
