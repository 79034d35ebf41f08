import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import {
  checkTarget,
  getHostname,
  isLoopbackAddress,
  isPublicAddress,
  MAX_URL_CHARS,
  type ResolveHostname,
  requirePublicAddress,
} from '../../../../src/platform/outbound/guarded.ts';
import { fullSemaphore } from '../../../support/network/full-queue.ts';

/** First and last address of what is refused, and whether the address before and the one after are public; null: there is none. */
const REFUSED_IPV4: [first: string, last: string, before: boolean | null, after: boolean | null][] = [
  ['0.0.0.0', '0.255.255.255', null, true],
  ['10.0.0.0', '10.255.255.255', true, true],
  ['100.64.0.0', '100.127.255.255', true, true],
  ['127.0.0.0', '127.255.255.255', true, true],
  ['169.254.0.0', '169.254.255.255', true, true],
  ['172.16.0.0', '172.31.255.255', true, true],
  ['192.0.0.0', '192.0.0.255', true, true],
  ['192.0.2.0', '192.0.2.255', true, true],
  ['192.31.196.0', '192.31.196.255', true, true],
  ['192.52.193.0', '192.52.193.255', true, true],
  ['192.88.99.0', '192.88.99.255', true, true],
  ['192.168.0.0', '192.168.255.255', true, true],
  ['192.175.48.0', '192.175.48.255', true, true],
  ['198.18.0.0', '198.19.255.255', true, true],
  ['198.51.100.0', '198.51.100.255', true, true],
  ['203.0.113.0', '203.0.113.255', true, true],
  ['224.0.0.0', '255.255.255.255', true, null],
];

/** The same in groups of 16 bits, missing ones of the first zero and of the last ffff. */
const REFUSED_IPV6: [first: string, last: string, before: boolean | null, after: boolean | null][] = [
  ['0', '1fff', null, true],
  ['2001', '2001:1ff', true, true],
  ['2001:db8', '2001:db8', true, true],
  ['2002', '2002', true, true],
  ['2620:4f:8000', '2620:4f:8000', true, true],
  ['3fff', '3fff:fff', true, true],
  ['4000', 'ffff', true, null],
];

/** What stands in those two wide ones, each named by a registry or an RFC. */
const NAMED_IPV6 = [
  '::',
  '::1',
  '::8.8.8.8',
  '::ffff:8.8.8.8',
  '::ffff:127.0.0.1',
  '::ffff:0:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::1',
  '100::1',
  '100:0:0:1::1',
  '5f00::1',
  'fc00::1',
  'fdff::1',
  'fe80::1',
  'febf::1',
  'fec0::1',
  'ff02::1',
];

const ipv4 = (value: bigint) => [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
const ipv4Value = (text: string) => text.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n);
const ipv6 = (value: bigint) => Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(':');
const ipv6Value = (text: string, filler: string) => {
  const groups = text.split(':');
  return [...groups, ...Array<string>(8 - groups.length).fill(filler)].reduce((value, group) => value * 65_536n + BigInt(`0x${group}`), 0n);
};

const ranges = [
  ...REFUSED_IPV4.map(([first, last, ...near]) => ({ name: first, spell: ipv4, first: ipv4Value(first), last: ipv4Value(last), near })),
  ...REFUSED_IPV6.map(([first, last, ...near]) => ({
    name: `${first}::`,
    spell: ipv6,
    first: ipv6Value(first, '0'),
    last: ipv6Value(last, 'ffff'),
    near,
  })),
];

describe('an address', () => {
  it.each(ranges)('of $name is rejected from its first to its last, and its neighbours are not', ({ spell, first, last, near }) => {
    const [before, after] = near;
    for (const value of [first, last]) expect(isPublicAddress(spell(value)), spell(value)).toBe(false);
    if (before !== null) expect(isPublicAddress(spell(first - 1n)), spell(first - 1n)).toBe(before);
    if (after !== null) expect(isPublicAddress(spell(last + 1n)), spell(last + 1n)).toBe(after);
    fc.assert(
      fc.property(fc.bigInt({ min: first, max: last }), (value) => {
        expect(isPublicAddress(spell(value))).toBe(false);
        expect(() => requirePublicAddress(spell(value))).toThrow(expect.objectContaining({ code: 'INPUT_INVALID', field: 'url' }));
      }),
    );
  });

  it.each([
    { bits: 32, spell: ipv4, refused: ranges.filter((range) => range.spell === ipv4) },
    { bits: 128, spell: ipv6, refused: ranges.filter((range) => range.spell === ipv6) },
  ])('of $bits bits is public outside of those', ({ bits, spell, refused }) => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }), (value) => {
        const expected = !refused.some(({ first, last }) => value >= first && value <= last);
        expect(isPublicAddress(spell(value))).toBe(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(NAMED_IPV6)('%s is rejected', (ip) => {
    expect(isPublicAddress(ip)).toBe(false);
  });

  it.each([
    '',
    'localhost',
    'example.com',
    '8.8.8',
    '0x8.8.8.8',
    '010.8.8.8',
    '[2606:4700::1]',
    '2606:4700::1%eth0',
    '8.8.8.8/32',
    '8.8.8.8:443',
  ])('is not what is none: %j', (text) => {
    expect(isPublicAddress(text)).toBe(false);
    expect(isLoopbackAddress(text)).toBe(false);
  });

  it('leads back here only as loopback, and never in disguise', () => {
    for (const ip of ['127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1']) expect(isLoopbackAddress(ip), ip).toBe(true);
    for (const ip of ['126.255.255.255', '128.0.0.0', '0.0.0.0', '::', '::2', '::ffff:127.0.0.1', '10.0.0.1'])
      expect(isLoopbackAddress(ip), ip).toBe(false);
  });

  it('is not contained in the error', () => {
    expect(() => requirePublicAddress('10.20.30.40')).not.toThrow(/10\.20/);
    expect(() => requirePublicAddress('8.8.8.8')).not.toThrow();
  });
});
describe('target', () => {
  const PUBLIC = '93.184.215.14';
  const publicResolve: ResolveHostname = async () => [PUBLIC, '2606:2800:21f:cb07:6820:80da:af6b:8b2c'];
  const refused = expect.objectContaining({ code: 'INPUT_INVALID', field: 'url' });
  const never: ResolveHostname = async (host) => {
    throw new Error(`${host} was looked up`);
  };

  const check = (url: string, resolve = publicResolve) => checkTarget(url, { allowLocal: false, resolve });
  const note = (url: string, resolve: ResolveHostname, allowLocal = false) => checkTarget(url, { allowLocal, resolve }, 'accept');
  const checkLocal = (url: string, resolve = publicResolve) => checkTarget(url, { allowLocal: true, resolve });

  describe('a callback', () => {
    it.each([
      ['https://hooks.example.com/a?b=c', 'https://hooks.example.com/a?b=c'],
      ['HTTPS://Hooks.Example.com:443', 'https://hooks.example.com/'],
      ['https://hooks.example.com:8443/x', 'https://hooks.example.com:8443/x'],
      ['https://bücher.example/x', 'https://xn--bcher-kva.example/x'],
      ['https://hooks.example.com./x', 'https://hooks.example.com/x'],
      ['https://hooks.example.com.:8443/x.?y=z.', 'https://hooks.example.com:8443/x.?y=z.'],
      ['https://notlocal.example/', 'https://notlocal.example/'],
    ])('%s is kept as %s, with the addresses it leads to', async (given, url) => {
      expect(await check(given)).toEqual({ url, addresses: await publicResolve('') });
    });

    it.each(['https://93.184.215.14/x', 'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/x'])('%s needs no look-up', async (given) => {
      const { url, addresses } = await check(given, never);
      expect(url).toBe(given);
      expect(addresses).toEqual([given.slice(8, -2).replaceAll(/[[\]]/g, '')]);
    });

    it.each([
      ['nothing', ''],
      ['no scheme', 'hooks.example.com/x'],
      ['a path', '/x'],
      ['plain http', 'http://hooks.example.com/'],
      ['another scheme', 'ftp://hooks.example.com/'],
      ['a script', 'javascript:alert(1)'],
      ['a file', 'file:///etc/passwd'],
      ['a user', 'https://user@hooks.example.com/'],
      ['a password', 'https://user:secret@hooks.example.com/'],
      ['a user that looks like a host', 'https://hooks.example.com@127.0.0.1/'],
      ['a fragment', 'https://hooks.example.com/#a'],
      ['an empty fragment', 'https://hooks.example.com/#'],
      ['port 0', 'https://hooks.example.com:0/'],
      ['a port beyond', 'https://hooks.example.com:65536/'],
      ['too many characters', `https://hooks.example.com/${'a'.repeat(MAX_URL_CHARS)}`],
      ['too many once they are encoded', `https://hooks.example.com/${'ä'.repeat(MAX_URL_CHARS / 4)}`],
      ['a single label', 'https://intranet/'],
      ['localhost', 'https://localhost/'],
      ['localhost with a dot', 'https://LOCALHOST./'],
      ['a name under localhost', 'https://a.localhost/'],
      ['two dots at its end', 'https://hooks.example.com../'],
      ['many dots at its end', 'https://hooks.example.com..../'],
      ['mDNS', 'https://printer.local/'],
      ['internal', 'https://metadata.google.internal/computeMetadata/v1/'],
      ['a home network', 'https://nas.home.arpa/'],
      ['loopback', 'https://127.0.0.1/'],
      ['loopback in IPv6', 'https://[::1]/'],
      ['this network', 'https://0.0.0.0/'],
      ['the metadata service', 'https://169.254.169.254/latest/meta-data/'],
      ['a private address', 'https://192.168.0.1/'],
      ['an IPv4-mapped one', 'https://[::ffff:127.0.0.1]/'],
      ['NAT64', 'https://[64:ff9b::7f00:1]/'],
      ['a short form', 'https://127.1/'],
      ['decimal', 'https://2130706433/'],
      ['octal', 'https://0177.0.0.1/'],
      ['hex', 'https://0x7f.0.0.1/'],
      ['full-width digits', 'https://１２７.0.0.1/'],
      ['a public address in decimal', 'https://1572394766/'],
      ['a public address in octal', 'https://0135.184.215.14/'],
      ['a public address in hex', 'https://0x5db8d70e/'],
      ['a public address, short', 'https://93.12113678/'],
      ['a long spelling of IPv6', 'https://[2606:2800:021f:cb07:6820:80da:af6b:8b2c]/'],
    ])('with %s is rejected', async (_, url) => {
      await expect(check(url)).rejects.toThrow(refused);
    });

    it('repeats neither credentials nor the URL in its rejection', async () => {
      await expect(check('https://user:secret@hooks.example.com/')).rejects.not.toThrow(/secret|hooks/);
    });

    it('is rejected when any of its addresses is not public', async () => {
      for (const bad of ['127.0.0.1', '10.0.0.5', '::1', 'fd00::1', '::ffff:10.0.0.5', '169.254.169.254']) {
        for (const addresses of [[bad], [PUBLIC, bad], [bad, PUBLIC]]) {
          await expect(
            check('https://rebind.example.com/', async () => addresses),
            addresses.join(),
          ).rejects.toThrow(refused);
        }
      }
    });

    it('is rejected when its host has no address, or the lookup fails', async () => {
      await expect(check('https://gone.example.com/', async () => [])).rejects.toThrow(refused);
      await expect(check('https://gone.example.com/', never)).rejects.toThrow(refused);
    });

    it('is rejected when the lookup times out', async () => {
      vi.useFakeTimers();
      try {
        const outcome = expect(check('https://slow.example.com/', () => new Promise(() => {}))).rejects.toThrow(refused);
        await vi.advanceTimersByTimeAsync(3_000);
        await outcome;
      } finally {
        vi.useRealTimers();
      }
    });

    it('asks for the name without the dot at its end', async () => {
      const asked: string[] = [];
      await check('https://hooks.example.com./x', async (host) => {
        asked.push(host);
        return [PUBLIC];
      });
      expect(asked).toEqual(['hooks.example.com']);
    });
  });

  it('throws RATE_LIMITED for a callback whose name lookup got no slot', async () => {
    const full: ResolveHostname = () => fullSemaphore().run(async () => [PUBLIC]);
    const later = { code: 'RATE_LIMITED', retryAfterSeconds: 5 };
    await expect(check('https://hooks.example.com/', full)).rejects.toMatchObject(later);
    await expect(note('https://hooks.example.com/', full)).rejects.toMatchObject(later);
  });

  it.each([
    ['https://Hooks.Example.COM:8443/x', 'hooks.example.com'],
    ['https://hooks.example.com./', 'hooks.example.com'],
    ['http://LOCALHOST...:80/', 'localhost'],
    ['https://[2001:DB8::1]/', '2001:db8::1'],
    ['https://127.0.0.1./', '127.0.0.1'],
    ['no url', ''],
  ])('the host of %s has one name: %s', (url, name) => {
    expect(getHostname(url)).toBe(name);
  });

  describe('a callback that is only written down', () => {
    const unanswered: [string, ResolveHostname][] = [
      ['has no address', async () => []],
      ['is not known to anybody', () => Promise.reject(new Error('ENOTFOUND'))],
      ['cannot be asked for', () => Promise.reject(new Error('EAI_AGAIN'))],
    ];

    it.each(unanswered)('may have a host that %s', async (_, resolve) => {
      const url = 'https://new.example.com/x';
      expect(await note(url, resolve)).toEqual({ url, addresses: [] });
      await expect(check(url, resolve)).rejects.toThrow(refused);
    });

    it('may have a host that is looked up for too long', async () => {
      vi.useFakeTimers();
      try {
        const outcome = note('https://slow.example.com/', () => new Promise(() => {}));
        await vi.advanceTimersByTimeAsync(3_000);
        expect(await outcome).toMatchObject({ addresses: [] });
      } finally {
        vi.useRealTimers();
      }
    });

    it('is rejected when any of its addresses is not public', async () => {
      for (const addresses of [['127.0.0.1'], [PUBLIC, '10.0.0.5'], ['::ffff:169.254.169.254']]) {
        await expect(
          note('https://rebind.example.com/', async () => addresses),
          addresses.join(),
        ).rejects.toThrow(refused);
      }
    });

    it.each([
      'https://localhost/',
      'https://printer.local/',
      'https://metadata.google.internal/',
      'https://intranet/',
      'https://127.0.0.1/',
      'http://new.example.com/',
    ])('rejects %s even with an unresolved name', async (url) => {
      for (const [, resolve] of unanswered) await expect(note(url, resolve)).rejects.toThrow(refused);
    });

    it('is not plain http where hosts of this machine are allowed and its name leads nowhere', async () => {
      for (const [, resolve] of unanswered) {
        await expect(note('http://new.example.com/', resolve, true)).rejects.toThrow(refused);
        await expect(note('http://localhost:9000/', resolve, true)).rejects.toThrow(refused);
      }
    });
  });

  describe('a callback of this machine', () => {
    it.each(['http://127.0.0.1:9000/hook', 'https://127.0.0.1:9000/hook', 'http://[::1]:9000/hook'])(
      '%s is taken where that is allowed',
      async (url) => {
        expect((await checkLocal(url, never)).url).toBe(url);
        await expect(check(url, never)).rejects.toThrow(refused);
      },
    );

    it.each([
      'http://127.0.0.1:8080/',
      'https://127.9.9.9/',
      'http://localhost:8080/',
      'http://LOCALHOST./',
      'http://[::1]:8080/',
      'http://127.1/',
    ])('%s is rejected otherwise, with a word on what allows it', async (url) => {
      const expected = {
        field: 'url',
        message: expect.stringContaining('PUSH_LOCAL_TARGETS=allow'),
        suggestedAction: expect.stringContaining('local chain only'),
      };
      await expect(check(url, never)).rejects.toMatchObject(expected);
      await expect(note(url, never)).rejects.toMatchObject(expected);
    });

    it.each(['http://hooks.example.com/', 'https://10.0.0.1/', 'ftp://127.0.0.1/'])('%s is rejected for what it is', async (url) => {
      await expect(check(url)).rejects.not.toThrow(/PUSH_LOCAL_TARGETS/);
      await expect(check('https://named.example.com/', async () => ['127.0.0.1'])).rejects.not.toThrow(/PUSH_LOCAL_TARGETS/);
    });

    it('may be called localhost, if that leads here', async () => {
      expect(await checkLocal('http://localhost:9000/', async () => ['127.0.0.1', '::1'])).toMatchObject({
        addresses: ['127.0.0.1', '::1'],
      });
      await expect(checkLocal('http://localhost:9000/', async () => ['127.0.0.1', PUBLIC])).rejects.toThrow(refused);
    });

    it.each([
      'http://hooks.example.com/',
      'http://10.0.0.1/',
      'https://10.0.0.1/',
      'http://0.0.0.0/',
      'http://169.254.169.254/',
      'http://127.1/',
      'http://[::ffff:127.0.0.1]/',
    ])('is not %s', async (url) => {
      await expect(checkLocal(url)).rejects.toThrow(refused);
    });

    it('has one name, whatever dots end it', async () => {
      expect((await checkLocal('http://localhost.:9000/', async () => ['127.0.0.1'])).url).toBe('http://localhost:9000/');
      await expect(checkLocal('http://localhost..:9000/', async () => ['127.0.0.1'])).rejects.toThrow(refused);
    });

    it('leaves public ones as they are', async () => {
      expect((await checkLocal('https://hooks.example.com/')).url).toBe('https://hooks.example.com/');
    });
  });
});
