/** An imported function: its library, the version it needs of it, and its name. */
export type Import = [library: string, version: string, symbol: string];

const ADDRESS_BASE = 0x10_000;
const HEADERS_END = 64 + 2 * 56;

/** The smallest x64 library that imports these: one segment, loaded at an address other than its place in the file. */
export function syntheticElf(imports: Import[], machine = 62): Buffer {
  const strings = stringTable();
  const needs = [...new Set(imports.map(([library]) => library))].map((library) => ({
    library,
    versions: [...new Set(imports.filter(([of]) => of === library).map(([, version]) => version))],
  }));
  const indexOf = new Map(
    needs.flatMap(({ library, versions }) => versions.map((version) => `${library} ${version}`)).map((key, i) => [key, i + 2]),
  );
  const symtab = Buffer.concat([Buffer.alloc(24), ...imports.map(([, , name]) => u32(strings.add(name), 0x12, 0, 0, 0, 0))]);
  const versym = Buffer.alloc((imports.length + 1) * 2);
  imports.forEach(([library, version], i) => {
    versym.writeUInt16LE(indexOf.get(`${library} ${version}`)!, (i + 1) * 2);
  });
  const gnuHash = u32(1, imports.length + 1, 1, 0, 0, 0, 0);
  const verneed = Buffer.concat(needs.map(({ library, versions }, i) => need(library, versions, i === needs.length - 1)));
  const parts = { symtab, versym, gnuHash, verneed, strtab: strings.bytes() };

  function need(library: string, versions: string[], last: boolean): Buffer {
    const head = Buffer.concat([u16(1, versions.length), u32(strings.add(library), 16, last ? 0 : 16 + 16 * versions.length)]);
    const entries = versions.map((version, i) => {
      const next = i === versions.length - 1 ? 0 : 16;
      return Buffer.concat([u32(0), u16(0, indexOf.get(`${library} ${version}`)!), u32(strings.add(version), next)]);
    });
    return Buffer.concat([head, ...entries]);
  }
  return assemble(parts, needs.length, machine);
}

function assemble(parts: Record<'symtab' | 'versym' | 'gnuHash' | 'verneed' | 'strtab', Buffer>, needs: number, machine: number): Buffer {
  const at: Record<string, number> = {};
  let end = HEADERS_END;
  for (const [name, bytes] of Object.entries(parts)) {
    at[name] = end;
    end += bytes.length;
  }
  const tags = [5, at.strtab + ADDRESS_BASE, 10, parts.strtab.length, 6, at.symtab + ADDRESS_BASE, 0x6ffffef5, at.gnuHash + ADDRESS_BASE];
  tags.push(0x6ffffff0, at.versym + ADDRESS_BASE, 0x6ffffffe, at.verneed + ADDRESS_BASE, 0x6fffffff, needs, 0, 0);
  const dynamic = u64(...tags);
  const size = end + dynamic.length;
  const ident = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  const header = Buffer.concat([ident, u16(3, machine), u32(1), u64(0, 64, 0), u32(0), u16(64, 56, 2, 0, 0, 0)]);
  const load = Buffer.concat([u32(1, 5), u64(0, ADDRESS_BASE, ADDRESS_BASE, size, size, 4096)]);
  const dynamicSegment = Buffer.concat([u32(2, 6), u64(end, ADDRESS_BASE + end, ADDRESS_BASE + end, dynamic.length, dynamic.length, 8)]);
  return Buffer.concat([header, load, dynamicSegment, ...Object.values(parts), dynamic]);
}

function stringTable() {
  let text = '\0';
  return {
    add: (name: string) => {
      const found = text.indexOf(`\0${name}\0`);
      if (found >= 0) return found + 1;
      text += `${name}\0`;
      return text.length - name.length - 1;
    },
    bytes: () => Buffer.from(text, 'latin1'),
  };
}

const u16 = (...values: number[]) => Buffer.from(Uint16Array.from(values).buffer);
const u32 = (...values: number[]) => Buffer.from(Uint32Array.from(values).buffer);
const u64 = (...values: number[]) => Buffer.from(BigUint64Array.from(values.map(BigInt)).buffer);
