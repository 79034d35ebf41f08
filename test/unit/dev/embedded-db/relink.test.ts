import { describe, expect, it } from 'vitest';
import { readElf, relinkForOlderGlibc } from '../../../../src/dev/relink.ts';
import { type Import, syntheticElf } from './synthetic-elf.ts';

const OLD: Import = ['libc.so.6', 'GLIBC_2.2.5', 'malloc'];
const STRTOL: Import = ['libc.so.6', 'GLIBC_2.38', '__isoc23_strtol'];
const FMOD: Import = ['libm.so.6', 'GLIBC_2.38', 'fmod'];

/** "libc.so.6 GLIBC_2.2.5 malloc" of every import. */
function imports(library: Buffer): string[] {
  const { symbols, versions } = readElf(library);
  return symbols.slice(1).map(({ name, version }) => {
    const needed = versions.find(({ index }) => index === version);
    return `${needed?.library} ${needed?.name} ${name}`;
  });
}

describe('readElf', () => {
  it('reads imports and the versions they need', () => {
    expect(imports(syntheticElf([OLD, STRTOL, FMOD]))).toEqual([
      'libc.so.6 GLIBC_2.2.5 malloc',
      'libc.so.6 GLIBC_2.38 __isoc23_strtol',
      'libm.so.6 GLIBC_2.38 fmod',
    ]);
  });

  it('rejects a file cut off anywhere after its first bytes', () => {
    const library = syntheticElf([OLD, STRTOL]);
    for (let length = 6; length < library.length; length++) {
      expect(() => readElf(library.subarray(0, length)), `${length} bytes`).toThrow('truncated');
    }
  });

  it.each([
    ['text', Buffer.from('#!/bin/sh\n'.repeat(20)), 'not an ELF file'],
    ['a 32-bit library', syntheticElf([OLD]).fill(1, 4, 5), 'not a 64-bit'],
    ['a big-endian library', syntheticElf([OLD]).fill(2, 5, 6), 'not a 64-bit little-endian'],
    ['a program without a dynamic section', syntheticElf([OLD]).fill(4, 120, 121), 'not a dynamic library'],
  ])('refuses %s', (_what, file, message) => {
    expect(() => readElf(file)).toThrow(message);
  });
});

describe('relinkForOlderGlibc', () => {
  it('binds what needs 2.38 to the base version, under its plain name', () => {
    const relinked = relinkForOlderGlibc(syntheticElf([OLD, STRTOL, FMOD]));
    expect(imports(relinked)).toEqual(['libc.so.6 GLIBC_2.2.5 malloc', 'libc.so.6 GLIBC_2.2.5 strtol', 'libm.so.6 GLIBC_2.2.5 fmod']);
  });

  it('writes the hash by which the loader finds the base version', () => {
    const relinked = relinkForOlderGlibc(syntheticElf([OLD, STRTOL]));
    const hashes = readElf(relinked).versions.map(({ offset }) => relinked.readUInt32LE(offset));
    // As `readelf` shows it in any library: vna_hash of GLIBC_2.2.5.
    expect(hashes[1]).toBe(0x09691a75);
  });

  it('uses the base version of arm64 there', () => {
    const relinked = relinkForOlderGlibc(syntheticElf([['libc.so.6', 'GLIBC_2.17', 'malloc'], STRTOL], 183));
    expect(imports(relinked)[1]).toBe('libc.so.6 GLIBC_2.17 strtol');
  });

  it('leaves the original as it was, and a library that asks for nothing new unchanged', () => {
    const library = syntheticElf([OLD, STRTOL]);
    const before = Buffer.from(library);
    relinkForOlderGlibc(library);
    expect(library.equals(before)).toBe(true);
    const old = syntheticElf([OLD]);
    expect(relinkForOlderGlibc(old).equals(old)).toBe(true);
  });

  it('rejects a symbol of 2.38 that it does not know', () => {
    const library = syntheticElf([OLD, STRTOL, ['libc.so.6', 'GLIBC_2.38', 'strlcpy']]);
    expect(() => relinkForOlderGlibc(library)).toThrow('no equivalent of strlcpy (GLIBC_2.38) is known');
  });

  it('rejects an unknown processor, and a library that never mentions the base version', () => {
    expect(() => relinkForOlderGlibc(syntheticElf([OLD, STRTOL], 243))).toThrow('ELF machine 243');
    expect(() => relinkForOlderGlibc(syntheticElf([STRTOL]))).toThrow('does not mention GLIBC_2.2.5');
  });
});
