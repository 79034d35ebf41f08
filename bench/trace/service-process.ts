import { Session } from 'node:inspector/promises';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serve } from '../../test/support/http/serve.ts';
import { unresolvedService } from '../../test/support/service/service.ts';
import { answerParent } from '../lib.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SOURCES = /^(?:src|skills|agent-card)\//;

const profiler = new Session();
profiler.connect();
await profiler.post('Profiler.enable');
const service = await unresolvedService(1);
service.progress.complete();
const { url } = await serve(service);
await profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

const answers = {
  url: () => url,
  buyer: () => service.infrastructure.demo!.wallets.buyer.privateKey,
  /** Files of the sources with a function that has run since the last call. */
  async takeFiles(): Promise<string[]> {
    const { result } = await profiler.post('Profiler.takePreciseCoverage');
    const files = result.flatMap(({ url: source, functions }) => {
      const file = source.startsWith('file:') ? relative(ROOT, fileURLToPath(source)) : '';
      return SOURCES.test(file) && functions.some(({ ranges }) => ranges[0]!.count > 0) ? [file] : [];
    });
    return [...new Set(files)];
  },
  stop: () => service.stop(),
};

export type TraceAnswers = typeof answers;

answerParent(answers);
