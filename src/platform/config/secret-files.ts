import { readSecretFile } from '../secrets/secret-file.ts';
import { listSettings, type SettingName, type SettingProblem } from './settings.ts';

export interface SecretFiles {
  /** Contents by setting, without their last newline. */
  contents: Partial<Record<SettingName, string>>;
  problems: SettingProblem[];
}

/** Reads the files that `<NAME>_FILE` names for secret settings. Problems name the file, never its content. */
export function readSecretFiles(environment: Readonly<Record<string, string | undefined>>): SecretFiles {
  const found: SecretFiles = { contents: {}, problems: [] };
  for (const [name, { secret }] of listSettings()) {
    const path = environment[`${name}_FILE`];
    if (!secret || !path) continue;
    if (environment[name]) {
      found.problems.push({ name, problem: `is set, and so is ${name}_FILE: set one of them` });
      continue;
    }
    try {
      found.contents[name] = readSecretFile(path);
    } catch (error) {
      found.problems.push({ name: `${name}_FILE`, problem: `the file "${path}" ${(error as Error).message}` });
    }
  }
  return found;
}
