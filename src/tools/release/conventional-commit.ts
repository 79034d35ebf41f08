/** A commit message by the rules of conventionalcommits.org 1.0.0. */
export interface ConventionalCommit {
  /** Lower case, such as `feat`. */
  type: string;
  isBreaking: boolean;
  /** First line of the message. */
  header: string;
}

const HEADER = /^(?<type>[a-z]+)(?:\([^()]+\))?(?<breaking>!?): \S/i;
const BREAKING_FOOTER = /^BREAKING[ -]CHANGE: \S/m;

/** Null for a message that does not follow the specification, such as that of a merge. */
export function parseCommit(message: string): ConventionalCommit | null {
  const [header = '', ...body] = message.trim().split('\n');
  const { type, breaking } = HEADER.exec(header)?.groups ?? {};
  if (type === undefined) return null;
  return { type: type.toLowerCase(), isBreaking: breaking === '!' || BREAKING_FOOTER.test(body.join('\n')), header };
}
