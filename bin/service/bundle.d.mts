/** Of one entry module, by its path from the root. */
export interface ServiceBundle {
  /** In the folder of bundles. */
  output: string;
  /** Paths from the root. */
  sources: string[];
  digest: string;
}

export const BUNDLE_FOLDER: string;
export const MANIFEST: string;
export function useBundle(): void;
export function digestSources(root: string, paths: readonly string[]): string;
