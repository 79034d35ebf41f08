import { hash } from 'node:crypto';

/** Count, size and digest of the raw documents of a collection in any order. Their ids differ, so that no two digests cancel out. */
export class DocumentsDigest {
  documents = 0;
  bytes = 0;
  readonly #sum = Buffer.alloc(32);

  add(raw: Uint8Array): void {
    this.documents += 1;
    this.bytes += raw.length;
    const digest = hash('sha256', raw, 'buffer');
    for (let index = 0; index < digest.length; index++) this.#sum[index]! ^= digest[index]!;
  }

  /** Hex. */
  get sha256(): string {
    return this.#sum.toString('hex');
  }
}
