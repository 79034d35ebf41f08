/** A model version as the attested metadata of a day lists it. */
export interface CommittedModel {
  name: string;
  role: string;
  modelVersion: string | null;
  /** Null with distributions. */
  missingBecause: string | null;
  /** Digests by horizon, such as `7d`; null: it has none of the day. */
  distributions: Readonly<Record<string, string>> | null;
}

/** The models of a day's metadata; `none` for a day before distributions were committed. */
export function parseCommittedModels(metadata: string): CommittedModel[] | 'none' | 'unreadable' {
  try {
    const { models } = JSON.parse(metadata) as { models?: unknown };
    if (models === undefined) return 'none';
    if (!Array.isArray(models) || models.length === 0) return 'unreadable';
    const parsed = models.map(parseModel);
    const isDistinct = new Set(parsed.map((model) => model?.name)).size === parsed.length;
    return isDistinct && parsed.every((model) => model !== null) ? parsed : 'unreadable';
  } catch {
    return 'unreadable';
  }
}

function parseModel(model: unknown): CommittedModel | null {
  const { name, role, modelVersion, missingBecause = null, distributions } = model as Record<string, unknown>;
  const isNamed = typeof name === 'string' && typeof role === 'string' && isTextOrNull(modelVersion) && isTextOrNull(missingBecause);
  if (!isNamed || typeof distributions !== 'object') return null;
  if (distributions !== null && !Object.values(distributions).every((digest) => typeof digest === 'string')) return null;
  return { name, role, modelVersion, missingBecause, distributions: distributions as CommittedModel['distributions'] };
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
