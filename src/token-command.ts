import { parseArgs } from 'node:util';
import { loadConfig, localUrl } from './config.ts';
import { type DemoWallet, logIn, readDemoFile } from './demo-login.ts';
import { isOracleError, messageOf, OracleError } from './errors.ts';
import { DEMO_WALLETS } from './local/demo-file.ts';

const USAGE = `Usage: npm run -s token -- <${DEMO_WALLETS.join(' | ')}> [--url <url of the service>]

Logs a demonstration wallet of DATA_DIR/demo.json in at the running service and prints its access token, and nothing else:

  TOKEN=$(npm run -s token -- premium)
  curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:3000/api/svc/oracle
`;

interface Command {
  wallet: DemoWallet;
  /** Unset: where the settings say that it listens. */
  url: string | undefined;
}

/** Logs a demonstration wallet in: what `npm run token` starts. */
export async function main(words: string[]): Promise<void> {
  if (words.length === 0 || words.includes('--help') || words[0] === 'help') {
    process.stdout.write(USAGE);
    process.exitCode = words.length === 0 ? 2 : 0;
    return;
  }
  try {
    const { wallet, url } = parseCommand(words);
    const config = loadConfig();
    const { token } = await logIn(await readDemoFile(config.DATA_DIR), wallet, url ?? localUrl(config));
    process.stdout.write(`${token}\n`);
  } catch (error) {
    if (!isOracleError(error)) throw error;
    process.stderr.write(`${[error.message, error.suggestedAction].filter(Boolean).join('\n')}\n`);
    process.exitCode = 1;
  }
}

/** @throws OracleError INPUT_INVALID naming the word that is wrong. */
export function parseCommand(words: string[]): Command {
  const { values, positionals } = parsedWords(words);
  const [wallet, ...rest] = positionals;
  if (!DEMO_WALLETS.includes(wallet as DemoWallet)) throw invalid('wallet', `must be one of ${DEMO_WALLETS.join(', ')}`);
  if (rest.length > 0) throw invalid('arguments', `"${rest[0]}" is one argument too many`);
  const { url } = values;
  if (url !== undefined && !(URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)))
    throw invalid('--url', 'must be an http(s) URL');
  return { wallet: wallet as DemoWallet, url };
}

function parsedWords(words: string[]) {
  try {
    return parseArgs({ args: words, options: { url: { type: 'string' } }, allowPositionals: true });
  } catch (error) {
    throw invalid('arguments', messageOf(error));
  }
}

function invalid(field: string, problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `${field}: ${problem}`, { field, suggestedAction: 'npm run token -- --help' });
}
