import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytesToHex, type Hex } from 'viem';
import { generatePrivateKey, mnemonicToAccount } from 'viem/accounts';
import { afterAll, describe, expect, it } from 'vitest';
import { allowsLocalWebhooks, type Environment, getListenHost, inspectConfig, loadConfig } from '../../src/config.ts';
import { OracleError } from '../../src/errors.ts';
import { createLog } from '../../src/platform/log.ts';
import { estimateEntropyBits } from '../../src/platform/secrets.ts';
import { listSecretValues, listSettings, renderSettingsTable, SETTINGS } from '../../src/settings.ts';
import { createEd25519Key, createP256Key } from '../support/commerce/cdp-server.ts';
import { unpadded } from '../support/docs/documents.ts';

describe('config', () => {
  const KEY = `0x${'ab'.repeat(32)}`;
  const REAL = {
    PUBLIC_URL: 'https://oracle.example.org',
    CHAIN_RPC_URL: 'https://rpc.example.org/v2/very-secret-path',
    ATTESTER_PRIVATE_KEY: KEY,
    REPORTER_PRIVATE_KEY: `0x${'cd'.repeat(32)}`,
    PROVIDER_PRIVATE_KEY: `0x${'ef'.repeat(32)}`,
    FACILITATOR_PRIVATE_KEY: `0x${'12'.repeat(32)}`,
    PAYEE_ADDRESS: `0x${'5'.repeat(40)}`,
    SALT_SECRET: '9f86d081884c7d659a2feaa0c55ad015',
    ENCRYPTION_SECRET: '60303ae22b998861bce3b28f33eec1be',
    GATE_TOKEN_ADDRESS: `0x${'3'.repeat(40)}`,
    STABLECOIN_ADDRESS: `0x${'4'.repeat(40)}`,
    IDENTITY_REGISTRY_ADDRESS: `0x${'1'.repeat(40)}`,
    REPUTATION_REGISTRY_ADDRESS: `0x${'2'.repeat(40)}`,
  };

  describe('settings', () => {
    it('takes the URI of a replica set', () => {
      const uri = 'mongodb://user:pass@h1:27017,h2:27017/oracle?replicaSet=rs0';
      expect(loadConfig({ MONGODB_URI: uri }).MONGODB_URI).toBe(uri);
    });

    it('has a default for everything a local start needs', () => {
      const config = loadConfig({});
      expect(config).toMatchObject({ PORT: 3000, REPLAY_DAYS: 120, FEEDS: 'auto', ROLE: 'all', chainMode: 'own' });
      expect(getListenHost(config)).toBe('127.0.0.1');
    });

    it('takes proxies by number, name, address and range', () => {
      expect(loadConfig({}).TRUST_PROXY).toBe(0);
      expect(loadConfig({ TRUST_PROXY: '2' }).TRUST_PROXY).toBe(2);
      const proxies = ['loopback', '10.0.0.0/8', '192.0.2.1', '2001:db8::/32'];
      expect(loadConfig({ TRUST_PROXY: proxies.join(',') }).TRUST_PROXY).toEqual(proxies);
    });

    it.each(['operator@example.org', 'https://example.org/contact'])('takes an address by which the operator is reached: %s', (contact) => {
      expect(loadConfig({ CONTACT: contact }).CONTACT).toBe(contact);
    });

    it('treats an empty value as unset', () => {
      expect(loadConfig({ PORT: '', MONGODB_URI: '' })).toMatchObject({ PORT: 3000, MONGODB_URI: undefined });
    });

    it.each([
      ['PORT', '70000'],
      ['PORT', 'abc'],
      ['REPLAY_DAYS', '-1'],
      ['REPLAY_DAYS', '1.5'],
      ['ROLE', 'boss'],
      ['FEEDS', 'csv:'],
      ['FEEDS', 'kraken'],
      ['PROVIDER_URLS', 'kraken'],
      ['PROVIDER_URLS', 'kraken=ftp://example.org'],
      ['WAGERS', 'kalshi'],
      ['WAGER_KILL_SWITCH', 'maybe'],
      ['X402_FACILITATOR_FEE_USD', '-0.001'],
      ['X402_FACILITATOR_FEE_USD', '0.0000001'],
      ['X402_FACILITATOR_FEE_USD', 'a cent'],
      ['WAGER_MIN_STAKE_USD', '-1'],
      ['WAGER_MIN_STAKE_USD', '0.5'],
      ['WAGER_MAX_STAKE_USD', '0'],
      ['POLYMARKET_DRY_RUN', 'no'],
      ['POLYMARKET_SIGNATURE_TYPE', '4'],
      ['POLYMARKET_FUNDER', '0x1234'],
      ['POLYMARKET_HOST', 'clob.example.org'],
      ['PUBLIC_URL', 'ftp://example.org'],
      ['PUBLIC_URL', 'https://user:word@example.org'],
      ['PUBLIC_URL', 'https://example.org/?a=b'],
      ['CONTACT', 'operator'],
      ['CONTACT', 'http://example.org/contact'],
      ['CONTACT', 'operator@example.org\nContact: https://example.com'],
      ['CHAIN_RPC_URL', 'not a url'],
      ['PAYEE_ADDRESS', '0x1234'],
      ['PAYEE_ADDRESS', `0x${'0'.repeat(40)}`],
      ['X402_FACILITATOR_URL', 'https://key:word@x402.example.org'],
      ['PURCHASE_SIGNATURE', 'maybe'],
      ['AGENT_COMMERCE_EVALUATORS', `0x${'1'.repeat(40)},`],
      ['AGENT_COMMERCE_MAX_USD', '0.5'],
      ['MONGODB_URI', 'http://example.org'],
      ['LOG_LEVEL', 'loud'],
      ['RATE_LIMIT_PUBLIC', '0'],
      ['RATE_LIMIT_WALLET', '1.5'],
      ['RATE_LIMIT_RPC', 'off'],
      ['TRUST_PROXY', 'true'],
      ['TRUST_PROXY', '10'],
      ['TRUST_PROXY', '10.0.0.0/33'],
      ['TRUST_PROXY', '0.0.0.0/0'],
      ['TRUST_PROXY', '10.0.0.0/8,'],
      ['TRUST_PROXY', 'proxy.example.org'],
    ])('rejects %s=%s, naming the setting', (name, value) => {
      expect(() => loadConfig({ [name]: value })).toThrow(
        expect.objectContaining({ code: 'CONFIG_INVALID', field: name, message: expect.stringContaining(name) }),
      );
    });

    it('needs keys, secret and contracts on a real chain, and names the one that is missing', () => {
      expect(loadConfig(REAL).chainMode).toBe('real');
      expect(getListenHost(loadConfig(REAL))).toBe('127.0.0.1');
      expect(getListenHost(loadConfig({ ...REAL, HOST: '0.0.0.0' }))).toBe('0.0.0.0');
      for (const name of Object.keys(REAL).filter((key) => key !== 'CHAIN_RPC_URL')) {
        expect(() => loadConfig({ ...REAL, [name]: '' })).toThrow(`Setting ${name}`);
      }
    });

    it.each([
      ['an own node of Base', { CHAIN_RPC_URL: 'http://127.0.0.1:8545' }],
      ['an own node by name', { CHAIN_RPC_URL: 'http://localhost:8545' }],
      ['an own node over IPv6', { CHAIN_RPC_URL: 'http://[::1]:8545', CHAIN_LOCAL: '0' }],
      ['the public testnet, whose id the local chain has', { CHAIN_RPC_URL: 'https://sepolia.base.org', CHAIN_ID: '84532' }],
      ['an own node of the public testnet', { CHAIN_RPC_URL: 'http://127.0.0.1:8545', CHAIN_ID: '84532' }],
    ])('is a real chain with its rules: %s', (_, chain) => {
      expect(loadConfig({ ...REAL, ...chain }).chainMode).toBe('real');
      const unsafe = {
        ATTESTER_PRIVATE_KEY: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
        ...{ PUSH_LOCAL_TARGETS: 'allow', PROTOCOL_FIXTURES: 'on', PUBLIC_URL: 'http://127.0.0.1:3000', SALT_SECRET: '' },
      };
      const problems = inspectConfig({ ...REAL, ...chain, ...unsafe }).problems.map(({ name }) => name);
      expect(problems.toSorted()).toEqual(Object.keys(unsafe).toSorted());
    });

    const LOCAL = { CHAIN_RPC_URL: 'http://127.0.0.1:8545', CHAIN_LOCAL: '1' };
    it.each(['http://127.0.0.1:8545', 'http://localhost:8545', 'http://[::1]:8545'])(
      'rejects a real key on the local chain %s',
      (rpcUrl) => {
        const local = { ...LOCAL, CHAIN_RPC_URL: rpcUrl };
        for (const name of ['ATTESTER_PRIVATE_KEY', 'FACILITATOR_PRIVATE_KEY', 'PROVIDER_PRIVATE_KEY']) {
          expect(() => loadConfig({ ...local, [name]: KEY })).toThrow(/refused on a local chain.*or unset CHAIN_LOCAL/);
        }
        expect(loadConfig(local).chainMode).toBe('attached');
      },
    );

    it('runs its own chain without CHAIN_RPC_URL, whatever CHAIN_LOCAL says', () => {
      for (const CHAIN_LOCAL of ['', '0', '1']) expect(loadConfig({ CHAIN_LOCAL }).chainMode).toBe('own');
    });

    it.each(['https://sepolia.base.org', 'http://10.0.0.7:8545', 'http://0.0.0.0:8545'])('rejects CHAIN_LOCAL for %s', (CHAIN_RPC_URL) => {
      const rejected = expect.objectContaining({ code: 'CONFIG_INVALID', field: 'CHAIN_LOCAL' });
      expect(() => loadConfig({ ...LOCAL, CHAIN_RPC_URL })).toThrow(rejected);
    });

    it('names CHAIN_LOCAL to a demonstration that has left it out, and no rule of a chain whose kind is unknown', () => {
      expect(() => loadConfig({ CHAIN_RPC_URL: LOCAL.CHAIN_RPC_URL })).toThrow(/is required.* CHAIN_LOCAL/);
      expect(inspectConfig({ ...REAL, CHAIN_LOCAL: 'yes', SALT_SECRET: '' }).problems.map(({ name }) => name)).toEqual(['CHAIN_LOCAL']);
    });

    it('needs the key of a facilitator on a real chain, or the address of one', () => {
      const { FACILITATOR_PRIVATE_KEY: _, ...without } = REAL;
      expect(() => loadConfig(without)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID', field: 'FACILITATOR_PRIVATE_KEY' }));
      expect(loadConfig({ ...without, X402_FACILITATOR_URL: 'https://x402.example.org' }).X402_FACILITATOR_URL).toBe(
        'https://x402.example.org',
      );
    });

    it.each([
      ['ATTESTER_PRIVATE_KEY', 'REPORTER_PRIVATE_KEY'],
      ['ATTESTER_PRIVATE_KEY', 'FACILITATOR_PRIVATE_KEY'],
      ['ATTESTER_PRIVATE_KEY', 'PROVIDER_PRIVATE_KEY'],
      ['REPORTER_PRIVATE_KEY', 'FACILITATOR_PRIVATE_KEY'],
      ['REPORTER_PRIVATE_KEY', 'PROVIDER_PRIVATE_KEY'],
      ['FACILITATOR_PRIVATE_KEY', 'PROVIDER_PRIVATE_KEY'],
    ] as const)('rejects one key for %s and %s, in whatever case, and names both', (one, other) => {
      const shared = REAL[one].toUpperCase().replace('0X', '0x');
      const refused = expect.objectContaining({
        code: 'CONFIG_INVALID',
        field: other,
        message: `Setting ${other}: must not be the key of ${one}: each role has a wallet of its own`,
      });
      expect(() => loadConfig({ ...REAL, [other]: shared })).toThrow(refused);
    });

    it('takes where providers of live data answer, and a key for one of them on a local chain', () => {
      const urls = 'kraken=https://a.example.org/kraken,*=http://127.0.0.1:8080/{provider}';
      expect(loadConfig({ FEEDS: 'live', PROVIDER_URLS: urls, SOSOVALUE_API_KEY: 'a-key' })).toMatchObject({
        FEEDS: 'live',
        PROVIDER_URLS: urls,
        SOSOVALUE_API_KEY: 'a-key',
      });
    });

    it('defaults to a dry run at Polymarket with low limits', () => {
      expect(loadConfig({ WAGERS: 'polymarket' })).toMatchObject({
        POLYMARKET_DRY_RUN: true,
        POLYMARKET_HOST: 'https://clob.polymarket.com',
        POLYMARKET_SIGNATURE_TYPE: 0,
        WAGER_KILL_SWITCH: 'off',
        WAGER_MIN_STAKE_USD: 1,
        WAGER_MAX_STAKE_USD: 50,
        WAGER_MAX_OPEN_USD: 250,
      });
    });

    it('stakes at least a dollar a day, none with 0, and at most the maximum of the exchange', () => {
      expect(loadConfig({ WAGER_MIN_STAKE_USD: '0' }).WAGER_MIN_STAKE_USD).toBe(0);
      expect(loadConfig({ WAGER_MIN_STAKE_USD: '51' }).WAGER_MIN_STAKE_USD).toBe(51);
      const exchange = { WAGERS: 'polymarket', WAGER_MIN_STAKE_USD: '51' };
      expect(() => loadConfig(exchange)).toThrow('Setting WAGER_MIN_STAKE_USD: must be at most WAGER_MAX_STAKE_USD, 50');
      expect(loadConfig({ ...exchange, WAGER_MAX_STAKE_USD: '51' }).WAGER_MIN_STAKE_USD).toBe(51);
    });

    it('stakes real money only with a key, a funder where the wallet is another one, and on a real chain', () => {
      const money = { ...REAL, WAGERS: 'polymarket', POLYMARKET_DRY_RUN: 'false', POLYMARKET_PRIVATE_KEY: KEY };
      expect(loadConfig(money)).toMatchObject({ POLYMARKET_DRY_RUN: false, POLYMARKET_PRIVATE_KEY: KEY });
      expect(() => loadConfig({ ...money, POLYMARKET_PRIVATE_KEY: '' })).toThrow('Setting POLYMARKET_PRIVATE_KEY');
      expect(() => loadConfig({ ...money, POLYMARKET_SIGNATURE_TYPE: '3' })).toThrow('Setting POLYMARKET_FUNDER');
      expect(loadConfig({ ...money, POLYMARKET_SIGNATURE_TYPE: '3', POLYMARKET_FUNDER: `0x${'5'.repeat(40)}` }).chainMode).toBe('real');
      for (const chain of [{}, LOCAL]) {
        const local = { WAGERS: 'polymarket', POLYMARKET_DRY_RUN: 'false', POLYMARKET_PRIVATE_KEY: KEY, ...chain };
        expect(() => loadConfig(local)).toThrow('Setting POLYMARKET_DRY_RUN');
        expect(loadConfig({ ...local, POLYMARKET_DRY_RUN: 'true' }).WAGERS).toBe('polymarket');
      }
    });

    it('lets an operator in by user and password together, on any chain', () => {
      const operator = { ADMIN_USER: 'operator', ADMIN_PASSWORD: 'sixteen or more.' };
      expect(loadConfig({}).ADMIN_USER).toBeUndefined();
      expect(loadConfig(operator)).toMatchObject({ ...operator, chainMode: 'own' });
      expect(loadConfig({ ...REAL, ...operator })).toMatchObject({ ...operator, chainMode: 'real' });
      expect(listSecretValues(loadConfig(operator))).toContainEqual({ name: 'ADMIN_PASSWORD', value: operator.ADMIN_PASSWORD });
      expect(() => loadConfig({ ...operator, ADMIN_USER: '' })).toThrow(expect.objectContaining({ field: 'ADMIN_USER' }));
      expect(() => loadConfig({ ...operator, ADMIN_PASSWORD: '' })).toThrow(expect.objectContaining({ field: 'ADMIN_PASSWORD' }));
    });

    it.each([
      ['ADMIN_USER', 'with:colon'],
      ['ADMIN_USER', 'two\nlines'],
      ['ADMIN_PASSWORD', 'fifteen or less'],
      ['ADMIN_PASSWORD', 'sixteen or more\nover two lines'],
    ])('rejects an operator whose %s is %j', (name, value) => {
      const operator = { ADMIN_USER: 'operator', ADMIN_PASSWORD: 'sixteen or more.' };
      const refusal = { code: 'CONFIG_INVALID', field: name, message: expect.stringContaining(name) };
      expect(() => loadConfig({ ...operator, [name]: value })).toThrow(expect.objectContaining(refusal));
      if (name === 'ADMIN_PASSWORD') {
        expect(() => loadConfig({ ...operator, [name]: value })).toThrow(
          expect.objectContaining({ message: expect.not.stringContaining(value) }),
        );
      }
    });

    it('allows local webhook targets on a local chain only: where no other machine reaches the service, or by setting', () => {
      const allows = (environment: Environment) => allowsLocalWebhooks(loadConfig(environment));
      const exposed = [{ HOST: '0.0.0.0' }, { PUBLIC_URL: 'https://oracle.example.org' }];
      expect([{}, { PUBLIC_URL: 'http://[::1]:3000' }, { HOST: 'localhost' }].map(allows)).toEqual([true, true, true]);
      expect([...exposed, { PUSH_LOCAL_TARGETS: 'refuse' }, REAL].map(allows)).toEqual([false, false, false, false]);
      expect(exposed.every((environment) => allows({ ...environment, PUSH_LOCAL_TARGETS: 'allow' }))).toBe(true);
      expect(() => loadConfig({ ...REAL, PUSH_LOCAL_TARGETS: 'allow' })).toThrow('Setting PUSH_LOCAL_TARGETS');
    });

    it('never shows the value of a secret in an error', () => {
      const wrong = `0x${'zz'.repeat(32)}`;
      expect(() => loadConfig({ ...REAL, ATTESTER_PRIVATE_KEY: wrong })).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining(wrong) }),
      );
    });

    it.each([
      ['PUBLIC_URL', 'https://somebody:pa55-phrase@example.org'],
      ['PUBLIC_URL', 'https:/somebody:pa55-phrase@example.org'],
      ['ORACLE_URL', 'http://somebody:pa55-phrase@127.0.0.1:3000'],
      ['ORACLE_URL', 'somebody:pa55/phrase@@127.0.0.1'],
      ['ORACLE_URL', 'http://pa55-phrase@'],
      ['POLYMARKET_HOST', 'ftp://somebody:pa55-phrase@example.org'],
      ['PROVIDER_URLS', 'kraken=https://somebody:pa55-phrase@a.example.org,*=ftp://somebody:pa55-phrase@b.example.org'],
    ])('shows no user and password of a malformed URL: %s=%s', (name, value) => {
      expect(() => loadConfig({ [name]: value })).toThrow(
        expect.objectContaining({ field: name, message: expect.not.stringMatching(/somebody|pa55|phrase/) }),
      );
      expect(() => loadConfig({ [name]: value })).toThrow(value.slice(value.lastIndexOf('@')));
    });

    it('documents the settings from their table', () => {
      const documented = unpadded(readFileSync(new URL('../../docs/SETTINGS.md', import.meta.url), 'utf8'));
      expect(documented, 'run npm run docs:tables').toContain(`<!-- settings -->\n${unpadded(renderSettingsTable())}\n<!-- /settings -->`);
    });

    it.each([
      ['https://example.org/', 'https://example.org'],
      ['https://example.org:8443/a/b//', 'https://example.org:8443/a/b'],
      ['http://[::1]:3000', 'http://[::1]:3000'],
    ])('removes trailing slashes of the public URL %s', (text, url) => {
      expect(loadConfig({ PUBLIC_URL: text }).PUBLIC_URL).toBe(url);
    });

    it('documents every setting', () => {
      for (const name of Object.keys(SETTINGS)) expect(renderSettingsTable()).toContain(`| \`${name}\` |`);
    });
  });

  describe('the log', () => {
    it('replaces every secret by its name, in messages, fields and errors', () => {
      const lines: string[] = [];
      const log = createLog({ level: 'info', secrets: listSecretValues(loadConfig(REAL)), write: (line) => lines.push(line) });
      log.info({ url: REAL.CHAIN_RPC_URL }, `key ${KEY}`);
      log.error({ err: new Error(`cannot reach ${REAL.CHAIN_RPC_URL}`) }, 'failed');
      expect(lines.join('')).not.toContain(KEY);
      expect(lines.join('')).not.toContain('very-secret-path');
      expect(lines.join('')).toContain('[ATTESTER_PRIVATE_KEY]');
      expect(lines.join('')).toContain('[CHAIN_RPC_URL]');
    });
  });

  describe('a variable that looks like a setting and is none', () => {
    /** What platforms put into the environment of every process. */
    const PLATFORMS = {
      shell: {
        ...{
          PATH: '/usr/bin',
          HOME: '/root',
          USER: 'root',
          LOGNAME: 'root',
          SHELL: '/bin/sh',
          PWD: '/app',
          OLDPWD: '/',
          SHLVL: '1',
          _: '/x',
        },
        ...{ HOSTNAME: 'a1b2', HOSTTYPE: 'x86_64', TERM: 'xterm', LANG: 'C.UTF-8', TZ: 'UTC', EDITOR: 'vi', MAIL: '/m', DISPLAY: ':0' },
        ...{
          XDG_DATA_DIRS: '/usr/share',
          XDG_CONFIG_HOME: '/c',
          http_proxy: 'http://p',
          HTTPS_PROXY: 'http://p',
          NO_PROXY: 'x',
          PORTS: '1',
        },
      },
      node: {
        ...{ NODE_ENV: 'production', NODE_OPTIONS: '--x', NODE_EXTRA_CA_CERTS: '/ca.pem', NODE_VERSION: '24.1.0', YARN_VERSION: '1.22' },
        ...{
          npm_config_cache: '/c',
          npm_lifecycle_event: 'start',
          npm_package_name: 'x',
          npm_config_loglevel: 'warn',
          npm_config_port: '1',
        },
        ...{ MALLOC_ARENA_MAX: '2', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_SERVICE_NAME: 'oracle', DEBUG: '*' },
      },
      systemd: {
        INVOCATION_ID: 'ab',
        JOURNAL_STREAM: '9:1',
        NOTIFY_SOCKET: '/s',
        MAINPID: '1',
        CREDENTIALS_DIRECTORY: '/c',
        STATE_DIRECTORY: '/s',
      },
      kubernetes: Object.fromEntries(
        ['KUBERNETES', 'MONGODB', 'ORACLE', 'ORACLE_API', 'ATTESTER', 'FACILITATOR', 'RATE_LIMIT_RPC', 'PUBLIC'].flatMap((service) => [
          [`${service}_SERVICE_HOST`, '10.0.0.1'],
          [`${service}_SERVICE_PORT`, '443'],
          [`${service}_SERVICE_PORT_HTTPS`, '443'],
          [`${service}_PORT`, 'tcp://10.0.0.1:443'],
          [`${service}_PORT_443_TCP`, 'tcp://10.0.0.1:443'],
          [`${service}_PORT_443_TCP_ADDR`, '10.0.0.1'],
          [`${service}_PORT_443_TCP_PORT`, '443'],
          [`${service}_PORT_443_TCP_PROTO`, 'tcp'],
        ]),
      ),
      'GitHub Actions': {
        ...{ CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_TOKEN: 'x', GITHUB_REF_NAME: 'main', GITHUB_ENV: '/e', RUNNER_OS: 'Linux' },
        ...{ ACTIONS_RUNTIME_TOKEN: 'x', ImageOS: 'ubuntu24', AGENT_TOOLSDIRECTORY: '/t', ACCEPT_EULA: 'Y', JAVA_HOME_17_X64: '/j' },
      },
      AWS: {
        ...{
          AWS_PROFILE: 'x',
          AWS_DEFAULT_REGION: 'eu-central-1',
          AWS_ROLE_ARN: 'arn',
          AWS_ENDPOINT_URL_S3: 'http://s3',
          AWS_ENDPOINT_URL: 'x',
        },
        ...{ AWS_ACCESS_KEY: 'x', AWS_SECRET_KEY: 'x', AWS_WEB_IDENTITY_TOKEN_FILE: '/t', AWS_EXECUTION_ENV: 'AWS_ECS', AWS_REGIONS: 'x' },
      },
      'other programs': {
        ...{
          MONGODB_URI: 'mongodb://h/oracle',
          MONGODB_URL: 'mongodb://h/other',
          MONGO_URL: 'x',
          MONGODB_DATABASE: 'x',
          MONGODB_USERNAME: 'x',
        },
        ...{
          ORACLE_HOME: '/o',
          ORACLE_SID: 'x',
          ORACLE_PWD: 'x',
          ADMIN_EMAIL: 'x',
          PUBLIC_IP: '1.2.3.4',
          DATABASE_URL: 'x',
          REDIS_HOST: 'r',
        },
        ...{ PRIVATE_KEY: 'x', SERVICE_URL: 'http://h', TEST_TIMEOUT_FACTOR: '3', MCP_SERVER_NAME: 'x', X402_NETWORK: 'base' },
      },
    } satisfies Record<string, Record<string, string>>;

    it.each(Object.entries(PLATFORMS))('is nothing that comes from: %s', (_, environment) => {
      expect(inspectConfig({ ...REAL, ...environment }).problems).toEqual([]);
      expect(loadConfig({ ...REAL, ...environment }).unknownVariables).toEqual([]);
      expect(loadConfig(environment).unknownVariables).toEqual([]);
    });

    it.each([
      ['RATE_LIMIT_PUBLC', 'RATE_LIMIT_PUBLIC'],
      ['RATE_LIMIT_ANONYMOUS', 'RATE_LIMIT_'],
      ['CONFIRMATION', 'CONFIRMATIONS'],
      ['REPLAY_DAY', 'REPLAY_DAYS'],
      ['REPALY_DAYS', 'REPLAY_DAYS'],
      ['FEED', 'FEEDS'],
      ['DATADIR', 'DATA_DIR'],
      ['data_dir', 'DATA_DIR'],
      ['MONGODB_URL', 'MONGODB_URI'],
      ['WAGER_MAX_OPEN_CENTS', 'WAGER_MAX_OPEN_USD'],
      ['ATTESTER_KEY', 'ATTESTER_'],
      ['AGENT_COMMERCE_CONTRACT', 'AGENT_COMMERCE_'],
      ['FACILITATOR_URL', 'X402_FACILITATOR_URL'],
      ['SALT_SECRET_FILES', 'SALT_SECRET_FILE'],
      ['GATE_TOKEN_ADDRESS_FILE', 'GATE_TOKEN_ADDRESS'],
      ['CHAIN_LOCALE', 'CHAIN_LOCAL'],
    ])('is named with the nearest setting: %s', (name, setting) => {
      const { [setting as keyof typeof REAL]: _, ...others } = REAL;
      const { unknownVariables } = loadConfig({ [name]: 'hunter2' });
      expect(unknownVariables).toEqual([{ name, problem: expect.stringContaining(setting) }]);
      expect(JSON.stringify(unknownVariables)).not.toContain('hunter2');
      expect(inspectConfig({ ...others, [name]: 'hunter2' }).problems).toContainEqual(unknownVariables[0]);
    });

    it('stops a real deployment, which names every one, and no demonstration', () => {
      const misspelt = { RATE_LIMIT_PUBLC: '5', CONFIRMATION: '12', LOG_LEVELS: '' };
      expect(() => loadConfig({ ...REAL, ...misspelt })).toThrow(
        expect.objectContaining({
          code: 'CONFIG_INVALID',
          message: expect.stringMatching(/RATE_LIMIT_PUBLC.*RATE_LIMIT_PUBLIC\?\n.*CONFIRMATION: .*CONFIRMATIONS\?$/),
          suggestedAction: 'Rename or unset RATE_LIMIT_PUBLC, CONFIRMATION.',
        }),
      );
      expect(loadConfig(misspelt).unknownVariables.map(({ name }) => name)).toEqual(['RATE_LIMIT_PUBLC', 'CONFIRMATION']);
    });
  });
});

const FACILITATOR = { X402_FACILITATOR_URL: 'https://api.cdp.coinbase.com/platform/v2/x402' };
const settings = ({ id, secret }: { id: string; secret: string }) => ({ ...FACILITATOR, CDP_API_KEY_ID: id, CDP_API_KEY_SECRET: secret });
const problemsOf = (environment: Record<string, string>) => inspectConfig(environment).problems;

describe('the key of a facilitator', () => {
  const p256 = createP256Key();
  it.each([
    ['Ed25519', createEd25519Key()],
    ['P-256', p256],
    ['P-256 on one line', { ...p256, secret: p256.secret.replaceAll('\n', '\\n') }],
  ])('is accepted as %s', (_, key) => {
    expect(loadConfig(settings(key)).CDP_API_KEY_SECRET).toBe(key.secret);
  });

  const ed25519 = createEd25519Key();
  const swapped = Buffer.from(ed25519.secret, 'base64');
  it.each([
    ['random text', 'not a key at all'],
    ['a seed without its public key', Buffer.from(ed25519.secret, 'base64').subarray(0, 32).toString('base64')],
    ['halves that do not belong together', Buffer.concat([swapped.subarray(32), swapped.subarray(0, 32)]).toString('base64')],
    ['an RSA key', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()],
    [
      'a secp256k1 key',
      generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey.export({ format: 'pem', type: 'sec1' }).toString(),
    ],
  ])('is rejected as %s, naming the setting and not its value', (_, secret) => {
    const problems = problemsOf(settings({ id: ed25519.id, secret }));
    expect(problems).toEqual([{ name: 'CDP_API_KEY_SECRET', problem: expect.stringContaining('must be base64 of the 64 bytes') }]);
    expect(JSON.stringify(problems)).not.toContain(secret.slice(0, 12));
  });

  it('needs both settings, a facilitator, and https unless it is on this machine', () => {
    const { CDP_API_KEY_ID, CDP_API_KEY_SECRET, ...url } = settings(ed25519);
    expect(problemsOf({ ...url, CDP_API_KEY_ID })).toEqual([expect.objectContaining({ name: 'CDP_API_KEY_SECRET' })]);
    expect(problemsOf({ ...url, CDP_API_KEY_SECRET })).toEqual([expect.objectContaining({ name: 'CDP_API_KEY_ID' })]);
    expect(problemsOf({ CDP_API_KEY_ID, CDP_API_KEY_SECRET })).toEqual([expect.objectContaining({ name: 'X402_FACILITATOR_URL' })]);
    const at = (X402_FACILITATOR_URL: string) => problemsOf({ CDP_API_KEY_ID, CDP_API_KEY_SECRET, X402_FACILITATOR_URL });
    expect(at('http://x402.example.org')).toEqual([{ name: 'X402_FACILITATOR_URL', problem: expect.stringContaining('https') }]);
    expect(at('http://127.0.0.1:4021')).toEqual([]);
  });
});
const hex = (bytes: number) => randomBytes(bytes).toString('hex');
const ADDRESS = `0x${'5'.repeat(40)}`;
const safe = () => ({
  PUBLIC_URL: 'https://oracle.example.org',
  CHAIN_RPC_URL: 'https://rpc.example.org',
  ATTESTER_PRIVATE_KEY: generatePrivateKey(),
  REPORTER_PRIVATE_KEY: generatePrivateKey(),
  PROVIDER_PRIVATE_KEY: generatePrivateKey(),
  FACILITATOR_PRIVATE_KEY: generatePrivateKey(),
  SALT_SECRET: hex(32),
  ENCRYPTION_SECRET: hex(32),
  ...{ ADMIN_USER: 'operator', ADMIN_PASSWORD: randomBytes(18).toString('base64') },
  ...{ PAYEE_ADDRESS: ADDRESS, GATE_TOKEN_ADDRESS: ADDRESS, STABLECOIN_ADDRESS: ADDRESS },
  ...{ IDENTITY_REGISTRY_ADDRESS: ADDRESS, REPUTATION_REGISTRY_ADDRESS: ADDRESS },
});

const MNEMONIC = 'test test test test test test test test test test test junk';
const publishedKey = (addressIndex: number): Hex => bytesToHex(mnemonicToAccount(MNEMONIC, { addressIndex }).getHdKey().privateKey!);

function errorOf(environment: Record<string, string>): OracleError {
  try {
    loadConfig(environment);
  } catch (error) {
    if (error instanceof OracleError) return error;
    throw error;
  }
  throw new Error('the settings are taken');
}

/** Names of the settings that the start refuses. */
const refusedNames = (environment: Record<string, string>) =>
  [...errorOf(environment).message.matchAll(/Setting (\w+): /g)].map(([, name]) => name);

describe('a real chain', () => {
  it('takes random secrets of every usual form', () => {
    for (let round = 0; round < 50; round++) {
      expect(loadConfig(safe()).chainMode).toBe('real');
      const forms = { SALT_SECRET: hex(16), ENCRYPTION_SECRET: randomBytes(24).toString('base64') };
      expect(loadConfig({ ...safe(), ...forms, ADMIN_PASSWORD: randomBytes(12).toString('base64url') }).chainMode).toBe('real');
    }
  });

  it('names malformed, missing and unsafe settings in one error, each once', () => {
    const { PAYEE_ADDRESS: _missing, ...others } = safe();
    const wrong = { SALT_SECRET: 'changeme', PORT: 'none', ATTESTER_PRIVATE_KEY: publishedKey(0), PUBLIC_URL: 'http://oracle.example.org' };
    expect(refusedNames({ ...others, ...wrong }).toSorted()).toEqual([
      ...['ATTESTER_PRIVATE_KEY', 'PAYEE_ADDRESS', 'PORT', 'PUBLIC_URL', 'SALT_SECRET'],
    ]);
  });

  it('rejects each of the first 30 keys that anvil publishes, in any case', () => {
    for (let index = 0; index < 30; index++) {
      const key = publishedKey(index);
      expect(refusedNames({ ...safe(), PROVIDER_PRIVATE_KEY: key }), `key ${index}`).toEqual(['PROVIDER_PRIVATE_KEY']);
      expect(refusedNames({ ...safe(), ATTESTER_PRIVATE_KEY: key.toUpperCase().replace('0X', '0x') })).toEqual(['ATTESTER_PRIVATE_KEY']);
    }
  });

  it.each([
    'x'.repeat(32),
    'ab'.repeat(20),
    '0123456789abcdef'.repeat(4),
    '00000000000000000000000000000001',
    'deadbeefcafebabedeadbeefcafebabe',
    'changeme-changeme-changeme-please',
    'Change-Me-To-A-Long-Random-String!!',
    'p4ssw0rd-p4ssw0rd-p4ssw0rd-p4ssw0rd',
    'abcdefghijklmnopqrstuvwxyz012345',
    'a-very-long-secret-of-32-characters',
    'my super secret salt for the oracle 2026',
    'I like to eat apples on sunny days',
    MNEMONIC,
  ])('rejects the master secret %j', (secret) => {
    expect(refusedNames({ ...safe(), SALT_SECRET: secret })).toEqual(['SALT_SECRET']);
    expect(refusedNames({ ...safe(), ENCRYPTION_SECRET: secret })).toEqual(['ENCRYPTION_SECRET']);
  });

  it('rejects a master secret that is equal to another secret, whatever its case and prefix', () => {
    const settings = safe();
    const { SALT_SECRET: salt, ATTESTER_PRIVATE_KEY: key } = settings;
    expect(refusedNames({ ...settings, ENCRYPTION_SECRET: salt })).toEqual(['ENCRYPTION_SECRET']);
    expect(refusedNames({ ...settings, ENCRYPTION_SECRET: salt.toUpperCase() })).toEqual(['ENCRYPTION_SECRET']);
    expect(refusedNames({ ...settings, SALT_SECRET: key.slice(2) })).toEqual(['SALT_SECRET']);
    expect(refusedNames({ ...settings, ADMIN_PASSWORD: salt })).toEqual(['SALT_SECRET']);
  });

  it.each([
    'password12345678',
    'Sup3rS3cretPassw0rd!',
    'administrator1234',
    'operator-operator1',
    'correct horse battery staple',
    '1234567890123456',
    'qwertyuiopasdfgh',
  ])('rejects the password %j of the operator', (password) => {
    expect(refusedNames({ ...safe(), ADMIN_PASSWORD: password })).toEqual(['ADMIN_PASSWORD']);
  });

  it('rejects a public URL without encryption', () => {
    expect(refusedNames({ ...safe(), PUBLIC_URL: 'http://oracle.example.org' })).toEqual(['PUBLIC_URL']);
  });

  it('names every wrong setting at once, says what to do, and shows no secret', () => {
    const unsafe = {
      ATTESTER_PRIVATE_KEY: publishedKey(0),
      REPORTER_PRIVATE_KEY: publishedKey(1),
      SALT_SECRET: 'changeme'.repeat(4),
      ENCRYPTION_SECRET: 'changeme'.repeat(4),
      ADMIN_PASSWORD: 'password-password',
    };
    const settings = { ...safe(), ...unsafe, PUBLIC_URL: 'http://oracle.example.org', PAYEE_ADDRESS: '' };
    const { code, message, suggestedAction } = errorOf(settings);
    const names = [...Object.keys(unsafe), 'PUBLIC_URL', 'PAYEE_ADDRESS'];
    expect(new Set(refusedNames(settings))).toEqual(new Set(names));
    expect(code).toBe('CONFIG_INVALID');
    for (const name of names) expect(suggestedAction).toContain(name);
    for (const secret of Object.values(unsafe)) expect(message).not.toContain(secret);
    expect(message).toContain('openssl rand -hex 32');
  });

  it('names every malformed setting at once', () => {
    expect(refusedNames({ PORT: 'abc', ROLE: 'boss', CHAIN_ID: '0' })).toEqual(['PORT', 'ROLE', 'CHAIN_ID']);
  });
});

describe('a demonstration', () => {
  it('takes plain HTTP and a simple password', () => {
    const settings = { PUBLIC_URL: 'http://127.0.0.1:3000', ADMIN_USER: 'operator', ADMIN_PASSWORD: 'password12345678' };
    expect(loadConfig(settings)).toMatchObject({ chainMode: 'own', ...settings });
  });
});

describe('the estimate of a secret', () => {
  it('stays fast for what a pattern could be tried on for ever', () => {
    const started = performance.now();
    for (const secret of [`${'Aa '.repeat(200)}1`, `${'-'.repeat(600)}1`, `${'A '.repeat(300)}1`])
      expect(estimateEntropyBits(secret)).toBeLessThan(20);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
describe('secret files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'oracle-secrets-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  let files = 0;
  function file(content: string): string {
    const path = join(folder, `secret-${files++}`);
    writeFileSync(path, content);
    return path;
  }

  function messageOf(environment: Environment): string {
    try {
      loadConfig(environment);
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error('the settings are taken');
  }

  const URI = 'mongodb://user:pass@h1/oracle';

  describe('a secret from a file', () => {
    it.each([
      ['without a newline', URI],
      ['with its last newline', `${URI}\n`],
      ['with a newline of Windows', `${URI}\r\n`],
    ])('is taken %s, and counts as a secret', (_what, content) => {
      const config = loadConfig({ MONGODB_URI_FILE: file(content) });
      expect(config.MONGODB_URI).toBe(URI);
      expect(listSecretValues(config)).toEqual([{ name: 'MONGODB_URI', value: URI }]);
    });

    it('keeps every other newline and space', () => {
      const password = ' sixteen or more.  ';
      expect(loadConfig({ ADMIN_USER: 'operator', ADMIN_PASSWORD_FILE: file(`${password}\n`) }).ADMIN_PASSWORD).toBe(password);
      expect(messageOf({ ADMIN_USER: 'operator', ADMIN_PASSWORD_FILE: file(`${password}\n\n`) })).toContain('on one line');
    });

    it('is offered for each secret and for nothing else', () => {
      const missing = join(folder, 'missing');
      const environment = Object.fromEntries(listSettings().map(([name]) => [`${name}_FILE`, missing]));
      const named = [...messageOf(environment).matchAll(/Setting (\w+)_FILE: the file "(.*)" cannot be read \(ENOENT\)/g)];
      const secrets = listSettings().flatMap(([name, { secret }]) => (secret ? [name] : []));
      expect(named.map(([, name]) => name)).toEqual(secrets);
      expect(secrets).toEqual(
        expect.arrayContaining(['SALT_SECRET', 'CHAIN_RPC_URL', 'POLYMARKET_PRIVATE_KEY', 'ATTESTER_SIGNER', 'ORACLE_TOKEN']),
      );
      expect(named.every(([, , path]) => path === missing)).toBe(true);
    });

    it('is named with all other problems, without its content', () => {
      const message = messageOf({
        MONGODB_URI: URI,
        MONGODB_URI_FILE: file(URI),
        SALT_SECRET_FILE: folder,
        ENCRYPTION_SECRET_FILE: file('\n'),
        ATTESTER_PRIVATE_KEY_FILE: file('0xabc-no-key'),
        PORT: 'none',
      });
      for (const words of [
        'Setting MONGODB_URI: is set, and so is MONGODB_URI_FILE: set one of them',
        `Setting SALT_SECRET_FILE: the file "${folder}" cannot be read (EISDIR)`,
        /Setting ENCRYPTION_SECRET_FILE: the file ".*" is empty/,
        'Setting ATTESTER_PRIVATE_KEY: must be a private key',
        'Setting PORT: ',
      ]) {
        expect(message).toMatch(words);
      }
      expect(message).not.toMatch(/pass@|no-key/);
    });

    it('is unset when its name is empty', () => {
      expect(loadConfig({ MONGODB_URI: URI, MONGODB_URI_FILE: '' }).MONGODB_URI).toBe(URI);
    });
  });
});

describe('signer rules', () => {
  const address = (digit: string) => `0x${digit.repeat(40)}`;
  const KMS = 'kms:arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';
  const REAL: Environment = {
    PUBLIC_URL: 'https://oracle.example.org',
    CHAIN_RPC_URL: 'https://rpc.example.org',
    ATTESTER_SIGNER: KMS,
    REPORTER_SIGNER: 'https://user:pa55-phrase@signer.example.org',
    REPORTER_ADDRESS: address('a'),
    FACILITATOR_SIGNER: 'kms:alias/facilitator',
    AWS_REGION: 'eu-central-1',
    PROVIDER_PRIVATE_KEY: `0x${'ef'.repeat(32)}`,
    SALT_SECRET: '9f86d081884c7d659a2feaa0c55ad015',
    ENCRYPTION_SECRET: '60303ae22b998861bce3b28f33eec1be',
    PAYEE_ADDRESS: address('5'),
    GATE_TOKEN_ADDRESS: address('3'),
    STABLECOIN_ADDRESS: address('4'),
    IDENTITY_REGISTRY_ADDRESS: address('1'),
    REPUTATION_REGISTRY_ADDRESS: address('2'),
  };

  const refusal = (field: string, words: string) =>
    expect.objectContaining({ code: 'CONFIG_INVALID', field, message: `Setting ${field}: ${words}` });

  it('takes one source of the tiers on a real chain: a gate token, or a list of wallets', () => {
    const { GATE_TOKEN_ADDRESS: _, ...without } = REAL;
    const { GATE_WALLETS } = loadConfig({ ...without, GATE_WALLETS: `basic:0x${'A'.repeat(40)},premium:${address('b')}` });
    expect(Object.fromEntries(GATE_WALLETS!)).toEqual({ [address('a')]: 'basic', [address('b')]: 'premium' });
    expect(loadConfig({ ...without, GATE_WALLETS: 'none' }).GATE_WALLETS?.size).toBe(0);
    expect(() => loadConfig(without)).toThrow(/^Setting GATE_TOKEN_ADDRESS: or GATE_WALLETS is required on a real chain/);
    expect(() => loadConfig({ ...REAL, GATE_WALLETS: 'none' })).toThrow(/^Setting GATE_WALLETS: must not be set with GATE_TOKEN_ADDRESS/);
    expect(() => loadConfig({ ...without, GATE_WALLETS: address('b') })).toThrow(/Setting GATE_WALLETS: must be none, or basic:/);
  });

  describe('signers of a real chain', () => {
    it('are taken of every kind, with or without the expected address', () => {
      expect(loadConfig(REAL).chainMode).toBe('real');
      expect(loadConfig({ ...REAL, ATTESTER_ADDRESS: address('9') }).ATTESTER_ADDRESS).toBe(address('9'));
      expect(loadConfig({ ...REAL, FACILITATOR_SIGNER: '', X402_FACILITATOR_URL: 'https://x402.example.org' }).chainMode).toBe('real');
    });

    it.each([
      [
        { ATTESTER_PRIVATE_KEY: `0x${'ab'.repeat(32)}` },
        'ATTESTER_SIGNER',
        'is set, and so is ATTESTER_PRIVATE_KEY: a role has one signer; unset one of them',
      ],
      [
        { ATTESTER_SIGNER: '' },
        'ATTESTER_PRIVATE_KEY',
        'is required on a real chain (CHAIN_RPC_URL without CHAIN_LOCAL=1), or ATTESTER_SIGNER in its place',
      ],
      [
        { FACILITATOR_SIGNER: '' },
        'FACILITATOR_PRIVATE_KEY',
        'is required on a real chain unless X402_FACILITATOR_URL is set, or FACILITATOR_SIGNER in its place',
      ],
      [{ REPORTER_ADDRESS: '' }, 'REPORTER_ADDRESS', 'is required when REPORTER_SIGNER is the URL of a Web3Signer'],
      [{ REPORTER_SIGNER: KMS }, 'REPORTER_SIGNER', 'must not be the key of ATTESTER_SIGNER: each role has a wallet of its own'],
      [{ AWS_REGION: '' }, 'AWS_REGION', 'is required, since FACILITATOR_SIGNER names its key without an ARN'],
      [{ AWS_ACCESS_KEY_ID: 'AKIDEXAMPLEAKIDEXAMP' }, 'AWS_SECRET_ACCESS_KEY', 'is required when AWS_ACCESS_KEY_ID is set'],
    ])('are refused with %j, naming %s', (change, field, words) => {
      expect(() => loadConfig({ ...REAL, ...change })).toThrow(refusal(field, words));
    });

    it('are refused for one wallet of a Web3Signer in two roles, and taken for two', () => {
      const provider = { PROVIDER_PRIVATE_KEY: '', PROVIDER_SIGNER: 'https://signer.example.org' };
      expect(loadConfig({ ...REAL, ...provider, PROVIDER_ADDRESS: address('b') }).chainMode).toBe('real');
      expect(() => loadConfig({ ...REAL, ...provider, PROVIDER_ADDRESS: address('A') })).toThrow(
        refusal('PROVIDER_SIGNER', 'must not be the key of REPORTER_SIGNER: each role has a wallet of its own'),
      );
    });

    it.each(['kms:', 'kms:a key', 'signer.example.org', 'ftp://user:pa55-phrase@signer.example.org', 'http://'])(
      'are refused when malformed, without showing a password: %s',
      (signer) => {
        const refused = { field: 'REPORTER_SIGNER', message: expect.not.stringContaining('pa55') };
        expect(() => loadConfig({ ...REAL, REPORTER_SIGNER: signer })).toThrow(expect.objectContaining(refused));
      },
    );
  });

  it.each(['', 'http://127.0.0.1:8545'])('a local chain refuses every signer (CHAIN_RPC_URL=%s)', (CHAIN_RPC_URL) => {
    const chain = { CHAIN_RPC_URL, CHAIN_LOCAL: '1' };
    for (const role of ['ATTESTER', 'REPORTER', 'FACILITATOR', 'PROVIDER']) {
      const environment = { ...chain, [`${role}_SIGNER`]: KMS };
      expect(() => loadConfig(environment)).toThrow(
        expect.objectContaining({ field: `${role}_SIGNER`, message: expect.stringContaining('refused on a local chain') }),
      );
    }
  });
});
