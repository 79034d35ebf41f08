import type { ModelVersion } from '../../../models/model-version.ts';

/** A version of the model that is broken on purpose. */
export interface VersionMutant {
  what: string;
  version: ModelVersion;
}

export interface VersionMutants {
  fits: readonly VersionMutant[];
  forecasts: readonly VersionMutant[];
}
