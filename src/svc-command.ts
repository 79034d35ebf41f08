import { join } from 'node:path';
import packageJson from '../package.json' with { type: 'json' };
import { openAudit } from './audit-command.ts';
import { runOnTerminal } from './cli/terminal.ts';
import { loadConfig, localUrl, SETTINGS } from './config.ts';
import { readDemoFile } from './demo-login.ts';

/** The command line beside the service of this folder: what `npx svc` starts. */
export function main(words: string[], environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  const settings = () => {
    const config = loadConfig(environment);
    const isDefault = config.DATA_DIR === SETTINGS.DATA_DIR.default;
    // That of npm start, from wherever this is called.
    return isDefault ? { ...config, DATA_DIR: join(import.meta.dirname, '..', config.DATA_DIR) } : config;
  };
  return runOnTerminal(words, {
    environment,
    version: packageJson.version,
    localUrl: () => localUrl(settings()),
    demo: () => readDemoFile(settings().DATA_DIR),
    openAudit: (command) => openAudit(command, settings),
  });
}
