import type { Prose } from './prose.ts';

/** Ceilings are those measured in viem, x402, a2a-js, hono, ponder and the MCP SDK. */
const HOUSE_WORDS: readonly { word: RegExp; instead: string; perThousand: number }[] = [
  { word: /\b(whoever|nobody|somebody|anybody)\b/gi, instead: 'the actor: client, caller, payer, operator, worker', perThousand: 1 },
  { word: /\b(told|untold|tell|tells|telling|teller)\b(?! apart)/gi, instead: 'return, send, publish, format, report', perThousand: 0 },
  { word: /\bdoors?\b/gi, instead: 'transport, interface, endpoint', perThousand: 0 },
  { word: /\bstrangers?\b/gi, instead: 'verifier, client', perThousand: 0 },
  { word: /\b(sign of life|let go of|lets go of)\b/gi, instead: 'heartbeat, release', perThousand: 0 },
];

/** Names of declarations; wire names in quotes are not looked at. */
const HOUSE_NAMES: readonly { name: RegExp; instead: string }[] = [
  { name: /^(MOST|LONGEST|LEAST|FEWEST|LARGEST)_[A-Z]/, instead: 'MAX_ or MIN_' },
  { name: /^(tell|told)([A-Z]|$)|(Told|Teller|InWords|Asker|Misuse)([A-Z]|$)/, instead: 'a verb of the glossary' },
  { name: /^(asker|carryOut)$/, instead: 'context, runSkill' },
];

const STORED_NAMES = new Set(['toldAtMs']);

export interface Finding {
  file: string;
  line: number;
  message: string;
}

/** Uses of a house word beyond its ceiling: all of them are listed, since any may be the one to rewrite. */
export function findHouseWords(prose: readonly Prose[]): Finding[] {
  const words = prose.reduce((count, { text }) => count + (text.match(/[A-Za-z][\w'-]*/g)?.length ?? 0), 0);
  return HOUSE_WORDS.flatMap(({ word, instead, perThousand }) => {
    const uses = prose.flatMap(({ file, line, text }) =>
      [...text.matchAll(word)].map((match) => ({ file, line: line + linesBefore(text, match.index), used: match[0] })),
    );
    if (uses.length <= (words / 1000) * perThousand) return [];
    return uses.map(({ used, ...place }) => ({ ...place, message: `"${used}": write ${instead}` }));
  });
}

export function findHouseNames(names: readonly { file: string; line: number; name: string }[]): Finding[] {
  return names
    .filter(({ name }) => !STORED_NAMES.has(name))
    .flatMap(({ name, ...place }) =>
      HOUSE_NAMES.filter((rule) => rule.name.test(name)).map(({ instead }) => ({ ...place, message: `${name}: name it with ${instead}` })),
    );
}

function linesBefore(text: string, index: number): number {
  return text.slice(0, index).split('\n').length - 1;
}
