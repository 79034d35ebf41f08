import type { Fields } from './fields.ts';

/** What of an answer breaks its rules: one line a value, with its path; empty when it keeps them. */
export function brokenRules(fields: Fields, answer: unknown): string[] {
  return Object.entries(fields).flatMap(([path, rule]) =>
    valuesAt(answer, path).flatMap(({ at, value }) => {
      const result = rule.safeParse(value);
      return result.success ? [] : [`${at} is ${JSON.stringify(value)}: ${result.error.issues.map(({ message }) => message).join('; ')}`];
    }),
  );
}

interface Found {
  at: string;
  value: unknown;
}

/** The values at a path such as `predictions[].outcome?.correct`, all of the answer at an empty one: one for each entry of a list; none below a null where `?` stands. */
function valuesAt(answer: unknown, path: string): Found[] {
  let found: Found[] = [{ at: '', value: answer }];
  if (path === '') return found;
  for (const step of path.split('.')) {
    const [, name = '', suffix] = /^(\w+)(\[\]|\?)?$/.exec(step)!;
    found = found.map(({ at, value }) => ({ at: `${at}.${name}`, value: (value as Record<string, unknown> | null | undefined)?.[name] }));
    if (suffix === '[]') found = found.flatMap(({ at, value }) => entriesOf(at, value));
    if (suffix === '?') found = found.filter(({ value }) => value !== null);
  }
  return found.map(({ at, value }) => ({ at: at.slice(1), value }));
}

function entriesOf(at: string, value: unknown): Found[] {
  if (!Array.isArray(value)) return [{ at: `${at}[]`, value: undefined }];
  return value.map((entry, index) => ({ at: `${at}[${index}]`, value: entry }));
}
