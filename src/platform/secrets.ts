import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  randomUUID,
} from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OracleError } from '../errors.ts';

/** A secret encrypted for one purpose does not decrypt for another. */
export type SecretPurpose =
  | 'token-signing-key'
  | 'webhook-secret'
  | 'webhook-url'
  | 'agent-card-key'
  | 'a2a-push-credentials'
  | 'oauth-token-response';

/** Encryption of secrets at rest: AES-256-GCM with keys derived from one master secret. */
export interface SecretBox {
  /** Encrypts with a random nonce. `owner` is authenticated: only the same owner can decrypt. */
  seal(purpose: SecretPurpose, owner: string, plain: string): string;
  /** @throws OracleError CONFIG_INVALID for another master secret, purpose or owner, or a modified text */
  open(purpose: SecretPurpose, owner: string, sealed: string): string;
}

const FORMAT_VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** @param masterSecret at least 32 characters; without it nothing can be decrypted */
export function createSecretBox(masterSecret: string): SecretBox {
  const keyFor = (purpose: SecretPurpose) => Buffer.from(hkdfSync('sha256', masterSecret, '', `oracle/${FORMAT_VERSION}/${purpose}`, 32));
  return {
    seal(purpose, owner, plain) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', keyFor(purpose), nonce).setAAD(Buffer.from(owner));
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return `${FORMAT_VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')}`;
    },
    open(purpose, owner, sealed) {
      try {
        const bytes = Buffer.from(sealed.slice(FORMAT_VERSION.length + 1), 'base64url');
        const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
        const cipher = createDecipheriv('aes-256-gcm', keyFor(purpose), bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
        cipher.setAAD(Buffer.from(owner)).setAuthTag(tag);
        return Buffer.concat([cipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), cipher.final()]).toString('utf8');
      } catch (cause) {
        throw new OracleError('CONFIG_INVALID', 'Setting ENCRYPTION_SECRET: does not open what the database holds', {
          field: 'ENCRYPTION_SECRET',
          suggestedAction: 'Set ENCRYPTION_SECRET to what it was when the database was written.',
          cause,
        });
      }
    },
  };
}

/** Words of placeholders and common passwords, longest first; each counts as one character. */
const COMMON_WORDS = [
  'correcthorsebatterystaple administrator supersecret development placeholder encryption production characters qwertyuiop insecure',
  'changeit changeme password passw0rd p4ssword p@ssw0rd asdfghjkl cafebabe deadbeef operator yoursecret 1q2w3e4r iloveyou trustno1',
  'football baseball princess sunshine whatever superman letmein welcome default example replace minimum bitcoin ethereum zxcvbnm',
  'dragon monkey master oracle secret signal random string insert qwerty abc123 change please sample dummy admin asdf root salt test',
  'demo todo junk your here with this that must have long pass user',
].flatMap((line) => line.split(' '));
/** English has 1 to 1.5 bits a letter; random words with separators have about 2. */
const BITS_PER_WORD_LETTER = 2;
const MIN_VOWEL_SHARE = 0.3;

/** Conservative: repetitions, sequences and known words count as one character. Random hex has about 3.8 bits a character. */
export function estimateEntropyBits(secret: string, known: readonly string[] = []): number {
  const unit = stripRepetition(secret);
  const letters = unit.toLowerCase().replaceAll(/[013457@$]/g, (character) => LOOKALIKE_LETTERS[character]!);
  const readings = [unit.toLowerCase(), letters];
  const rests = readings.map((text) => stripRuns(stripWords(text, known)));
  const bitsPerCharacter = (rest: string) =>
    isWordLike(unit) ? Math.min(BITS_PER_WORD_LETTER, computeCharacterEntropy(rest)) : computeCharacterEntropy(rest);
  return Math.min(...rests.map((rest) => rest.length * bitsPerCharacter(rest)));
}

const LOOKALIKE_LETTERS: Readonly<Record<string, string>> = { 0: 'o', 1: 'i', 3: 'e', 4: 'a', 5: 's', 7: 't', '@': 'a', $: 's' };

/** The period of a repeating text; otherwise the text. */
function stripRepetition(text: string): string {
  for (let period = 1; period <= text.length / 2; period++) {
    if (text.startsWith(text.slice(period))) return text.slice(0, period);
  }
  return text;
}

function stripWords(text: string, known: readonly string[]): string {
  const words = [...known.map((word) => word.toLowerCase()).filter((word) => word.length > 2), ...COMMON_WORDS];
  // Separators within a word do not change it.
  const plain = text.replaceAll(/[\s_.-]/g, '');
  return words.reduce((rest, word) => rest.replaceAll(word, word[0]!), plain);
}

/** Removes characters that continue a sequence: `aaa`, `abc`, `321`. */
function stripRuns(text: string): string {
  const step = (index: number) => text.charCodeAt(index) - text.charCodeAt(index - 1);
  return Array.from(text)
    .filter((_, index) => index < 2 || Math.abs(step(index)) > 1 || step(index) !== step(index - 1))
    .join('');
}

/** Words in one case or capitalized, with a vowel share near that of languages; random letters have a fifth. */
function isWordLike(text: string): boolean {
  if (!/^([A-Z]?[a-z]+|[A-Z]+)([\s_.,!?-]+([A-Z]?[a-z]+|[A-Z]+))*[\s_.,!?-]*$/.test(text)) return false;
  const letters = text.toLowerCase().replaceAll(/[^a-z]/g, '');
  return letters.replaceAll(/[^aeiou]/g, '').length >= MIN_VOWEL_SHARE * letters.length;
}

/** Shannon entropy in bits per character. */
function computeCharacterEntropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => sum - (count / text.length) * Math.log2(count / text.length), 0);
}

interface ApiSigningKey {
  key: KeyObject;
  algorithm: 'EdDSA' | 'ES256';
}

/** DER of an Ed25519 private key up to its 32 bytes (RFC 8410). */
const ED25519_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const ED25519_BYTES = 64;
const BASE64 = /^[A-Za-z0-9+/]{86}==$/;

/** The secret of a CDP API key: base64 of an Ed25519 seed and public key, or PEM of a P-256 key, also with `\n` for its line ends. Null for any other text. */
export function parseApiKeySecret(text: string): ApiSigningKey | null {
  return BASE64.test(text.trim()) ? parseEd25519(Buffer.from(text.trim(), 'base64')) : parsePem(text.replaceAll('\\n', '\n'));
}

function parseEd25519(bytes: Buffer): ApiSigningKey | null {
  if (bytes.length !== ED25519_BYTES) return null;
  const key = createPrivateKey({ key: Buffer.concat([ED25519_PREFIX, bytes.subarray(0, 32)]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(key).export({ format: 'jwk' }).x;
  // Anything else of this length has no public key as its second half.
  return publicKey === bytes.subarray(32).toString('base64url') ? { key, algorithm: 'EdDSA' } : null;
}

function parsePem(text: string): ApiSigningKey | null {
  try {
    const key = createPrivateKey(text);
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? { key, algorithm: 'ES256' } : null;
  } catch {
    return null;
  }
}

/** As `mkdir -p`. Node's own never returns where an existing folder answers ENOENT to every new name, as `/proc` does. */
export async function makeFolder(path: string, mode = 0o700): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    if (await isFolder(path)) return;
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || existsSync(parent)) throw error;
    await makeFolder(parent, mode);
    await makeFolder(path, mode);
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Null if the file is missing or not valid JSON. */
export async function readJsonFileOrNull(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return null;
  }
}

type FileContent = string | Buffer | AsyncIterable<Buffer>;

interface ReplaceOptions {
  /** Default: 0o600. */
  mode?: number;
  /** Default: a unique name beside the file. */
  temporary?: string;
  /** Of the synced temporary file, before it gets its name; throws to reject it. */
  check?(temporary: string): Promise<void>;
}

/** Replaces a file atomically: after a crash or power failure it has either its old or its whole new content. */
export async function replaceFile(path: string, content: FileContent, options: ReplaceOptions = {}): Promise<void> {
  const { mode = 0o600, temporary = `${path}.${randomUUID()}.tmp`, check } = options;
  try {
    await writeSynced(temporary, content, mode);
    await check?.(temporary);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  // The rename is durable once the folder is synced.
  const folder = await open(dirname(path));
  await folder.sync().finally(() => folder.close());
}

async function writeSynced(path: string, content: FileContent, mode: number): Promise<void> {
  const file = await open(path, 'w', mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The content of a file without its last newline. @throws Error whose message ends a sentence about the file, without its content */
export function readSecretFile(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (cause) {
    throw new Error(`cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
  if (text === '') throw new Error('is empty');
  return text;
}
