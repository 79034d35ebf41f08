import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export interface Credentials {
  user: string;
  password: string;
}

/**
 * Tells whether an `Authorization` header carries these credentials under HTTP Basic (RFC 7617, UTF-8). User and password are both
 * compared, whatever became of the first, as digests under a key of this process: how long it takes tells neither of them.
 */
export function createCredentialCheck({ user, password }: Credentials): (authorization: string | undefined) => boolean {
  const key = randomBytes(32);
  const digest = (text: string) => createHmac('sha256', key).update(text).digest();
  const [expectedUser, expectedPassword] = [digest(user), digest(password)];
  return (authorization) => {
    const credentials = parseCredentials(authorization);
    const userIsRight = timingSafeEqual(digest(credentials.user), expectedUser);
    const passwordIsRight = timingSafeEqual(digest(credentials.password), expectedPassword);
    return userIsRight && passwordIsRight;
  };
}

/** What a header carries; empty texts, which nobody's credentials are, where it carries none. */
function parseCredentials(authorization = ''): Credentials {
  const [, encoded = ''] = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization) ?? [];
  const [, user = '', password = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? [];
  return { user, password };
}
