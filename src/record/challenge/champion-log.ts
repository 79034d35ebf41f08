import type { Collection, Db } from 'mongodb';
import { MODEL_NAMES, type ModelName } from '../../forecast/models/registry.ts';
import { OracleError } from '../../platform/errors.ts';
import { insertOrFind } from '../../platform/insert-or-find.ts';
import type { ChallengeFigures, ChallengeResult } from './challenge-figures.ts';

/** The champion of a record without a change. */
export const FIRST_CHAMPION: ModelName = 'm0-d1';

/** A change of champion by the operator, kept for ever. `_id` counts the changes, `0001` and so on. */
export interface ChampionChangeDoc {
  _id: string;
  at: Date;
  from: ModelName;
  to: ModelName;
  /** The record had not proven the new one better. */
  forced: boolean;
  /** The test of both at that time, by horizon. */
  evidence: (Pick<ChallengeFigures, 'horizon'> & ChallengeResult)[];
}

interface ChampionSetting {
  champion: ModelName;
  force: boolean;
}

/** Which version has forecast since when. */
export class ChampionLog {
  readonly #changes: Collection<ChampionChangeDoc>;

  constructor(db: Db) {
    this.#changes = db.collection('champion_changes');
  }

  /** Oldest first. */
  list(): Promise<ChampionChangeDoc[]> {
    return this.#changes.find().sort({ _id: 1 }).toArray();
  }

  /**
   * Records the champion of the settings where it differs from that of the record. Safe to repeat and to run in parallel.
   * @throws OracleError CONFIG_INVALID for a version that is not proven better, unless forced
   */
  async apply({ champion, force }: ChampionSetting, readFigures: () => Promise<ChallengeFigures[]>, at: Date): Promise<void> {
    const changes = await this.list();
    const from = changes.at(-1)?.to ?? FIRST_CHAMPION;
    if (champion === from) return;
    const evidence = listEvidence(await readFigures(), from, champion);
    const isProven = isProvenBetter(evidence, champion);
    if (!isProven && !force) throw notProvenError(from, champion, evidence);
    const change: ChampionChangeDoc = {
      _id: String(changes.length + 1).padStart(4, '0'),
      at,
      from,
      to: champion,
      forced: !isProven,
      evidence,
    };
    const stored = await insertOrFind(this.#changes, change);
    if (stored.to === champion) return;
    throw new OracleError('CONFIG_INVALID', `Another process has just made ${stored.to} champion`, { field: 'MODEL_CHAMPION' });
  }
}

function listEvidence(figures: readonly ChallengeFigures[], from: ModelName, to: ModelName): ChampionChangeDoc['evidence'] {
  const isOfBoth = ({ challenger, against }: ChallengeResult) => [from, to].includes(challenger) && [from, to].includes(against);
  return figures.flatMap(({ horizon, comparisons }) => comparisons.filter(isOfBoth).map((one) => ({ horizon, ...one })));
}

/** At one horizon proven, and at none the reverse. */
function isProvenBetter(evidence: ChampionChangeDoc['evidence'], champion: ModelName): boolean {
  const verdictFor = ({ challenger }: ChallengeResult) => (challenger === champion ? 'proven better at 5 %' : 'proven worse');
  const verdictAgainst = ({ challenger }: ChallengeResult) => (challenger === champion ? 'proven worse' : 'proven better at 5 %');
  return evidence.some((one) => one.verdict === verdictFor(one)) && !evidence.some((one) => one.verdict === verdictAgainst(one));
}

function notProvenError(from: ModelName, to: ModelName, evidence: ChampionChangeDoc['evidence']): OracleError {
  const isLater = MODEL_NAMES.indexOf(to) > MODEL_NAMES.indexOf(from);
  const values = evidence.map((one) => `${one.horizon} ${(isLater ? one.maxBetter : one.maxWorse).toFixed(2)}`);
  const found = values.length === 0 ? 'no day has been compared' : `the highest evidence is ${values.join(', ')}, and 20 proves it`;
  return new OracleError('CONFIG_INVALID', `MODEL_CHAMPION=${to}: the record does not prove it better than ${from}: ${found}`, {
    field: 'MODEL_CHAMPION',
    suggestedAction: `Set MODEL_CHAMPION=${from}, or MODEL_CHAMPION_FORCE=on, which the record shows for ever.`,
  });
}
