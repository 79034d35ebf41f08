import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { LRUCache } from 'lru-cache';
import { Semaphore } from '../../../../platform/concurrency/semaphore.ts';
import type { Reply } from '../../server/route.ts';

const FONT_FILES = ['400Regular/Cantarell_400Regular.ttf', '700Bold/Cantarell_700Bold.ttf'].map((file) =>
  fileURLToPath(import.meta.resolve(`@expo-google-fonts/cantarell/${file}`)),
);

const MAX_CACHED_BYTES = 4 * 2 ** 20;
/** About 100 ms of a core each. */
const LIMITS = { maxConcurrent: 1, maxQueued: 32, maxWaitMs: 5_000 };

interface Image {
  etag: string;
  bytes: Buffer;
}

/** Renders SVG to PNG with fonts of its own, so that an image is the same everywhere; each content once while it is cached. */
export function createPngRenderer(): (svg: string) => Promise<Image> {
  const images = new LRUCache<string, Image>({ maxSize: MAX_CACHED_BYTES, sizeCalculation: ({ bytes }) => bytes.length + 256 });
  const pending = new Map<string, Promise<Image>>();
  const turns = new Semaphore(LIMITS);
  return async (svg) => {
    const digest = createHash('sha256').update(svg).digest('base64url');
    const known = images.get(digest) ?? pending.get(digest);
    if (known !== undefined) return known;
    const rendering = turns.run(async () => ({ etag: `"${digest}"`, bytes: await renderPng(svg) }));
    pending.set(digest, rendering);
    try {
      const image = await rendering;
      images.set(digest, image);
      return image;
    } finally {
      pending.delete(digest);
    }
  };
}

/** Off the main thread. The native module is loaded by the first image. */
async function renderPng(svg: string): Promise<Buffer> {
  const { renderAsync } = await import('@resvg/resvg-js');
  const image = await renderAsync(svg, { font: { fontFiles: FONT_FILES, loadSystemFonts: false, defaultFontFamily: 'Cantarell' } });
  return image.asPng();
}

export function toImageReply({ etag, bytes }: Image): Reply<never> {
  return {
    headers: { 'Content-Type': 'image/png', 'Cache-Control': 'public, max-age=300', ETag: etag },
    streamed: {
      bytes: bytes.length,
      encoding: null,
      async *read() {
        yield bytes;
      },
    },
  };
}
