import type { Hex } from 'viem';
import * as schemas from '../../chain/eas/attestation-schemas.ts';
import { getErrorMessage } from '../../platform/errors.ts';
import type { Comparison } from '../findings.ts';

export interface ContentOf {
  prediction: schemas.PredictionData;
  resolution: schemas.ResolutionData;
}

/** The data of an attestation, or why it cannot be that of its schema. */
type Decoded<Schema extends schemas.SchemaName> = { data: ContentOf[Schema] } | { wrong: Required<Comparison> };

/** Larger numbers of a day or a sequence have no valid date. */
const MAX_RECORD_NUMBER = 200_000;

type Codecs = { [Schema in schemas.SchemaName]: { decode(data: Hex): ContentOf[Schema]; encode(content: ContentOf[Schema]): Hex } };

const CODECS: Codecs = {
  prediction: { decode: schemas.decodePrediction, encode: schemas.encodePrediction },
  resolution: { decode: schemas.decodeResolution, encode: schemas.encodeResolution },
};

/** Decodes strictly: only the canonical encoding is accepted, so that surplus or dirty bytes are noticed. */
export function decodeContent<Schema extends schemas.SchemaName>(schema: Schema, data: Hex): Decoded<Schema> {
  const unreadable = (because: string) => ({ wrong: { field: 'data', expected: 'readable', actual: 'unreadable', because } });
  try {
    const content = CODECS[schema].decode(data);
    const wrong = findImpossibleNumber(content);
    if (wrong !== null) return { wrong };
    return CODECS[schema].encode(content) === data.toLowerCase() ? { data: content } : unreadable(`its data has more than a ${schema}`);
  } catch (error) {
    return unreadable(getErrorMessage(error));
  }
}

function findImpossibleNumber(content: ContentOf[schemas.SchemaName]): Required<Comparison> | null {
  if (!('sequence' in content)) return null;
  const { day, sequence } = content;
  const found = Object.entries({ day, sequence }).find(([, value]) => !(value >= 1 && value <= MAX_RECORD_NUMBER));
  if (found === undefined) return null;
  const [field, actual] = found;
  return { field, expected: `1 to ${MAX_RECORD_NUMBER}`, actual, because: `${field} ${actual} is not possible in a record` };
}
