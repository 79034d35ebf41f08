import { type Config, SETTINGS } from '../../platform/config/settings.ts';
import { quoteForShell } from '../../platform/data-dir/entries.ts';

export interface DemoCommands {
  token: string;
  watch: string;
  look: string;
  check: string;
  agent: string;
}

/** Commands for a service with these settings at this URL; defaults of the scripts are left out. */
export function buildDemoCommands({ DATA_DIR }: Pick<Config, 'DATA_DIR'>, url: string): DemoCommands {
  const folder = DATA_DIR === SETTINGS.DATA_DIR.default ? '' : `DATA_DIR=${quoteForShell(DATA_DIR)} `;
  const isDefaultUrl = url === `http://127.0.0.1:${SETTINGS.PORT.default}`;
  const urlOption = isDefaultUrl ? '' : ` --url ${url}`;
  return {
    token: `${folder}npm run -s token -- premium${urlOption}`,
    look: `npx svc signal${urlOption}`,
    check: `${folder}npx svc verify latest${urlOption}`,
    watch: `${folder}${isDefaultUrl ? '' : `SERVICE_URL=${url} `}node examples/receivers/watch.mjs 0`,
    agent: `${folder}npm run demo:agent${isDefaultUrl ? '' : ` -- --url ${url}`}`,
  };
}
