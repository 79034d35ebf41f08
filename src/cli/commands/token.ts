import { parseArgs } from 'node:util';
import { DEMO_WALLETS } from '../../dev/demo/demo-file.ts';
import { type DemoWalletName, logInDemoWallet, readDemoFile } from '../../dev/demo/demo-login.ts';
import { getLocalUrl, loadConfig } from '../../platform/config/config.ts';
import { getErrorMessage, isOracleError, OracleError } from '../../platform/errors.ts';

const USAGE = `Usage: npm run -s token -- <${DEMO_WALLETS.join(' | ')}> [--url <url of the service>]

Logs a demonstration wallet of DATA_DIR/demo.json in at the running service and prints its access token, and nothing else:

  TOKEN=$(npm run -s token -- premium)
  curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:3000/api/svc/oracle
`;

interface TokenCommand {
  wallet: DemoWalletName;
  /** Unset: where the settings say that it listens. */
  url: string | undefined;
}

/** Logs a demonstration wallet in: what `npm run token` starts. */
export async function runTokenCommand(args: string[]): Promise<void> {
  if (args.length === 0 || args.includes('--help') || args[0] === 'help') {
    process.stdout.write(USAGE);
    process.exitCode = args.length === 0 ? 2 : 0;
    return;
  }
  try {
    const { wallet, url } = parseTokenCommand(args);
    const config = loadConfig();
    const { token } = await logInDemoWallet(await readDemoFile(config.DATA_DIR), wallet, url ?? getLocalUrl(config));
    process.stdout.write(`${token}\n`);
  } catch (error) {
    if (!isOracleError(error)) throw error;
    process.stderr.write(`${[error.message, error.suggestedAction].filter(Boolean).join('\n')}\n`);
    process.exitCode = 1;
  }
}

/** @throws OracleError INPUT_INVALID naming the word that is wrong. */
export function parseTokenCommand(args: string[]): TokenCommand {
  const { values, positionals } = parseTokenOptions(args);
  const [wallet, ...rest] = positionals;
  if (!DEMO_WALLETS.includes(wallet as DemoWalletName)) throw usageError('wallet', `must be one of ${DEMO_WALLETS.join(', ')}`);
  if (rest.length > 0) throw usageError('arguments', `"${rest[0]}" is one argument too many`);
  const { url } = values;
  if (url !== undefined && !(URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)))
    throw usageError('--url', 'must be an http(s) URL');
  return { wallet: wallet as DemoWalletName, url };
}

function parseTokenOptions(args: string[]) {
  try {
    return parseArgs({ args: args, options: { url: { type: 'string' } }, allowPositionals: true });
  } catch (error) {
    throw usageError('arguments', getErrorMessage(error));
  }
}

function usageError(field: string, problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `${field}: ${problem}`, { field, suggestedAction: 'npm run token -- --help' });
}
