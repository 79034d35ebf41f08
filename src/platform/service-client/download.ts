import { createHash } from 'node:crypto';
import { openServiceBody, readFailure, type ServiceRequest } from './service-client.ts';

/** Bytes of a file of the service, as they arrive; the generator returns their SHA-256 as hex. @throws OracleError as `fetchServiceJson` */
export async function* downloadFromService(request: ServiceRequest): AsyncGenerator<Uint8Array, string> {
  const body = await openServiceBody(request);
  const hash = createHash('sha256');
  try {
    for await (const chunk of body) {
      hash.update(chunk);
      yield chunk;
    }
  } catch (error) {
    throw readFailure(error, request);
  }
  return hash.digest('hex');
}
