/** A field that a section of the interface names, with its type where the text gives one. */
export interface NamedField {
  name: string;
  type: JsonType | null;
}

export type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array';

const TYPES: Record<string, JsonType> = {
  int: 'integer',
  integer: 'integer',
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  object: 'object',
  array: 'array',
};
const WORDS = Object.keys(TYPES).join('|');

/** The text of section `number` (such as `2.3`), up to the next heading. */
export function sectionOf(text: string, number: string): string {
  const heading = text.split('\n').findIndex((line) => line.startsWith(`### ${number} `));
  if (heading === -1) throw new Error(`The interface has no section ${number}`);
  const lines = text.split('\n').slice(heading + 1);
  const end = lines.findIndex((line) => /^#{2,3} /.test(line));
  return lines.slice(0, end).join('\n');
}

/** Every field that a section names: in the rows of its field tables, and in code spans; `values` are code spans that name no field. */
export function namedFields(section: string, values: ReadonlySet<string>): NamedField[] {
  const inRows = section.includes('| Field |') ? [...section.matchAll(/^\| (\w+)(?: \(also spelled (\w+)\))? \| (\w+)/gm)] : [];
  const rows = inRows.filter(([, name]) => name !== 'Field').flatMap(([, name, other, type]) => both(name, other, type));
  const inSpans = [...section.matchAll(new RegExp(`\`([A-Za-z_]\\w*)\`(?:/\`(\\w+)\`)?(?: \\(?(${WORDS})s?\\b)?`, 'g'))];
  const spans = inSpans.flatMap(([, name, other, type]) => both(name, other, type));
  return [...rows, ...spans].filter(({ name }) => !values.has(name));
}

function both(name: string, other: string | undefined, type: string | undefined): NamedField[] {
  const of = (spelling: string) => ({ name: spelling, type: TYPES[type ?? ''] ?? null });
  return other === undefined ? [of(name)] : [of(name), of(other)];
}
