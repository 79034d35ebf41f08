import { listSettings, listVariables, type SettingProblem } from './settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Beginnings of names that only this service uses. Those of products, such as `AWS_` or `POLYMARKET_`, other programs of the machine share. */
const OWN_PREFIXES = [
  ...['RATE_LIMIT_', 'AGENT_COMMERCE_', 'ATTESTER_', 'REPORTER_', 'FACILITATOR_', 'WAGER_', 'MODEL_CHAMPION_'],
  ...['GATE_TOKEN_', 'STABLECOIN_', 'IDENTITY_REGISTRY_', 'REPUTATION_REGISTRY_'],
];
/** Kubernetes and Docker set these for each service that a container may reach, under the name of the service. */
const SERVICE_LINK = /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;
/** The SDK reads many more of them than the settings here. */
const FOREIGN = /^AWS_/;
const MAX_DISTANCE = 3;

/** Variables that were meant as settings and have no effect, each with the nearest setting. Values are not shown. */
export function findUnknownVariables(environment: Environment): SettingProblem[] {
  const known = listVariables();
  return Object.keys(environment).flatMap((name) => {
    if (!environment[name] || known.includes(name) || FOREIGN.test(name) || isServiceLink(name, environment[name])) return [];
    const file = findPlainSettingOfFile(name);
    if (file !== undefined) return [{ name, problem: `is not read, since ${file} is no secret; set ${file} itself` }];
    const nearest = findNearest(name, known, environment);
    return nearest === undefined ? [] : [{ name, problem: `is no setting and has no effect; did you mean ${nearest}?` }];
  });
}

function isServiceLink(name: string, value: string): boolean {
  return SERVICE_LINK.test(name) || (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value));
}

function findPlainSettingOfFile(name: string): string | undefined {
  const base = name.replace(/_FILE$/, '');
  // `PORT_FILE` and the like may be another program's.
  if (base === name || !base.includes('_')) return undefined;
  return listSettings().find(([setting, { secret }]) => setting === base && !secret)?.[0];
}

/** Undefined unless the name is an own one, or near a setting that is not set: where it is, nothing is lost. */
function findNearest(name: string, known: readonly string[], environment: Environment): string | undefined {
  const upper = name.includes('_') ? name.toUpperCase() : name;
  const distances = new Map(known.map((setting) => [setting, computeDistance(upper, setting)]));
  const [nearest] = known.toSorted((a, b) => distances.get(a)! - distances.get(b)!);
  if (OWN_PREFIXES.some((prefix) => upper.startsWith(prefix))) return known.find((setting) => setting.endsWith(`_${upper}`)) ?? nearest;
  const isNear = distances.get(nearest)! <= Math.min(MAX_DISTANCE, Math.floor(nearest.length / 5));
  return isNear && !environment[nearest] ? nearest : undefined;
}

/** Insertions, deletions, substitutions and transpositions of neighbours (optimal string alignment). */
function computeDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= a.length; i++) {
    rows[i] = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? rows[i - 2][j - 2] + 1 : changed;
      rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, changed, swapped);
    }
  }
  return rows[a.length][b.length];
}
