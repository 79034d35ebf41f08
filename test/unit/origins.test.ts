import { describe, expect, it } from 'vitest';
import { type OriginRules, socketPageCheck } from '../../src/origins.ts';

const allowedOrigins = ['app.example.org', 'moz-extension://*'];
const isLetIn = (rules: Partial<OriginRules>, origin: string | undefined) => {
  const check = socketPageCheck({ publicUrl: 'https://oracle.example/', allowedOrigins, loopback: false, ...rules });
  try {
    check(origin);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'ORIGIN_REFUSED', field: 'Origin', message: expect.not.stringContaining('example') });
    return false;
  }
};

describe('pages that may open WebSockets', () => {
  it.each([
    [undefined, true],
    ['https://oracle.example', true],
    ['http://oracle.example', false],
    ['https://oracle.example:8443', false],
    ['https://sub.oracle.example', false],
    ['https://oracle.example.evil.example', false],
    ['http://localhost:5173', false],
    ['https://app.example.org', true],
    ['http://app.example.org:8080', true],
    ['moz-extension://abc', true],
    ['null', false],
    ['file://', false],
  ])('%s of a service on the internet: %s', (origin, allowed) => {
    expect(isLetIn({}, origin)).toBe(allowed);
  });

  it.each([
    ['http://127.0.0.1:5173', true],
    ['http://localhost:3000', true],
    ['https://[::1]:3000', true],
    ['http://box.example:3000', true],
    ['http://box.example:3001', false],
  ])('%s of a demonstration: %s', (origin, allowed) => {
    expect(isLetIn({ publicUrl: 'http://box.example:3000', loopback: true }, origin)).toBe(allowed);
  });
});
