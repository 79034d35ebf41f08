import { createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { isIPv4 } from 'node:net';

export interface TestCertificate {
  /** PEM. */
  cert: string;
  key: string;
}

/** A self-signed certificate for host names and IPv4 addresses, valid for some years around `now`. */
export function selfSigned(names: readonly string[], now = new Date()): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const tbs = toBeSigned(names, publicKey, now.getUTCFullYear());
  const signature = createSign('sha256').update(tbs).sign(privateKey);
  const der = sequence(tbs, ECDSA_SHA256, tagged(0x03, Buffer.from([0]), signature));
  const lines = der.toString('base64').match(/.{1,64}/g)!;
  return {
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

const ECDSA_SHA256 = sequence(tagged(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
const COMMON_NAME = tagged(0x06, Buffer.from('550403', 'hex'));
const ALTERNATIVE_NAME = tagged(0x06, Buffer.from('551d11', 'hex'));

function toBeSigned(names: readonly string[], publicKey: KeyObject, year: number): Buffer {
  const someone = sequence(tagged(0x31, sequence(COMMON_NAME, tagged(0x0c, Buffer.from('test receiver')))));
  const valid = [year - 1, year + 2].map((edge) => tagged(0x18, Buffer.from(`${edge}0101000000Z`)));
  const hosts = names.map((name) =>
    isIPv4(name) ? tagged(0x87, Buffer.from(name.split('.').map(Number))) : tagged(0x82, Buffer.from(name)),
  );
  const extension = sequence(ALTERNATIVE_NAME, tagged(0x04, sequence(...hosts)));
  return sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    someone,
    sequence(...valid),
    someone,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(extension)),
  );
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, ...parts);
}

/** DER: tag, length, content. */
function tagged(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  const bytes = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}
