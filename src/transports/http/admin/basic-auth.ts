import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export interface Credentials {
  user: string;
  password: string;
}

/** HTTP Basic (RFC 7617, UTF-8) in constant time: both parts are compared as HMACs, so that the duration reveals neither. */
export function createCredentialCheck({ user, password }: Credentials): (authorization: string | undefined) => boolean {
  const key = randomBytes(32);
  const digest = (text: string) => createHmac('sha256', key).update(text).digest();
  const [expectedUser, expectedPassword] = [digest(user), digest(password)];
  return (authorization) => {
    const credentials = parseCredentials(authorization);
    const isUserValid = timingSafeEqual(digest(credentials.user), expectedUser);
    const isPasswordValid = timingSafeEqual(digest(credentials.password), expectedPassword);
    return isUserValid && isPasswordValid;
  };
}

/** Empty strings, which are never valid, where the header is absent or malformed. */
function parseCredentials(authorization = ''): Credentials {
  const [, encoded = ''] = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization) ?? [];
  const [, user = '', password = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? [];
  return { user, password };
}
