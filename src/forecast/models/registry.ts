import { OracleError } from '../../platform/errors.ts';
import { formatModelVersion, type HorizonModel } from '../model.ts';
import { m0d1 } from './m0-d1.ts';
import { m1 } from './m1/m1.ts';
import type { ModelRows, ModelVersion } from './model-version.ts';

/** Every version of the model, oldest first; a new one is a file and its name here. */
const VERSIONS = [m0d1, m1] as const;

export type ModelName = (typeof VERSIONS)[number]['name'];
export const MODEL_VERSIONS: readonly (ModelVersion & { name: ModelName })[] = VERSIONS;
export const MODEL_NAMES: readonly ModelName[] = VERSIONS.map(({ name }) => name);

export function getModelVersion(name: ModelName): ModelVersion {
  return VERSIONS.find((version) => version.name === name)!;
}

/** The version of a fit such as `m1.2026-08-14`. @throws OracleError INPUT_INVALID for another name */
export function findModelVersion(modelVersion: string): ModelVersion {
  const found = VERSIONS.find(({ name }) => name === getModelName(modelVersion));
  if (found !== undefined) return found;
  throw new OracleError('INPUT_INVALID', `there is no model version ${modelVersion}`, { field: 'modelVersion' });
}

/** `m1` of `m1.2026-08-14`. */
export function getModelName(modelVersion: string): string {
  return modelVersion.slice(0, modelVersion.lastIndexOf('.'));
}

/** A version's fit of a block and horizon from that of the direction. @throws OracleError INPUT_INVALID for constant prices */
export function fitModelVersion(version: ModelVersion, direction: HorizonModel, rows: ModelRows): HorizonModel {
  return { ...version.fit(direction, rows), modelVersion: formatModelVersion(direction.block, version.name) };
}
