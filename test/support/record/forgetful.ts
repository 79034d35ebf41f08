import type { Context } from '../../../src/context.ts';
import { CrowdFigures } from '../../../src/record/crowd.ts';
import { type DatasetFileStore, DatasetService } from '../../../src/record/dataset.ts';
import { RecordFigures } from '../../../src/record/figures.ts';
import type { RecordProjection } from '../../../src/record/projection.ts';

/** Keeps the files of one build in memory, each as one chunk. */
export function createMemoryFiles(): Pick<DatasetFileStore, 'find' | 'save' | 'readChunk'> {
  const contents = new Map<string, Buffer>();
  return {
    find: async () => null,
    async save(_key, built) {
      return built.map(({ content, gzipped: _, ...file }) => {
        contents.set(file.sha256, content);
        return { ...file, identity: { id: file.sha256, bytes: content.length }, gzip: null };
      });
    },
    readChunk: async ({ id }, number) => contents.get(id)!.subarray(number * 262_144, (number + 1) * 262_144),
  };
}

/** The same context without what its figures remember from one answer to the next: behind that a leak would not show. */
export function forgetful<Parts extends Context>(parts: Parts): Parts {
  const { record, models, venue, now } = parts;
  const createDataset = () => new DatasetService(record.known, models, createMemoryFiles(), now);
  // Routes take these once, when they are declared: each of their reads makes another.
  const fresh = <Figures extends object>(create: () => Figures) =>
    new Proxy(create(), {
      get(_, name) {
        const one = create();
        const member: unknown = Reflect.get(one, name, one);
        return typeof member === 'function' ? member.bind(one) : member;
      },
    });
  return {
    ...parts,
    figures: fresh(() => new RecordFigures(record.known, models)),
    crowd: fresh(() => new CrowdFigures(record.known, venue)),
    dataset: freshDataset(createDataset),
  };
}

function freshDataset(create: () => DatasetService) {
  let latest = create();
  const renew = () => {
    latest = create();
    return latest;
  };
  return {
    listFiles: () => renew().listFiles(),
    getFile: (...[table, format]: Parameters<DatasetService['getFile']>) => renew().getFile(table, format),
    readChunks: (...[stored]: Parameters<DatasetService['readChunks']>) => latest.readChunks(stored),
  };
}

/** A record whose memory answers some questions otherwise. */
export function knowing<R extends { known: RecordProjection }>(record: R, answers: Partial<RecordProjection>): R {
  const known = new Proxy(record.known, {
    get(target, name) {
      if (name in answers) return Reflect.get(answers, name);
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  return Object.defineProperty(Object.create(record) as R, 'known', { value: known });
}

/** As of before the first forecast. */
export const NOTHING_KNOWN = {
  listByHorizon: () => [],
  listAll: () => [],
  findLatest: () => null,
  findNewest: () => null,
  listDays: () => [],
};
