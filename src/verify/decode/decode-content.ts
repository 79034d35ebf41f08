import type { Hex } from 'viem';
import {
  decodePrediction,
  decodeResolution,
  encodePrediction,
  encodeResolution,
  type PredictionData,
  type ResolutionData,
  type SchemaName,
} from '../../chain/eas/attestation-schemas.ts';
import { getErrorMessage } from '../../platform/errors.ts';
import type { Comparison } from '../findings.ts';

export interface ContentOf {
  prediction: PredictionData;
  resolution: ResolutionData;
}

/** The data of an attestation, or why it cannot be that of its schema. */
export type Decoded<Schema extends SchemaName> = { data: ContentOf[Schema] } | { wrong: Required<Comparison> };

/** Larger numbers of a day or a sequence have no valid date. */
const MAX_RECORD_NUMBER = 200_000;

const CODECS = {
  prediction: { decode: decodePrediction, encode: encodePrediction },
  resolution: { decode: decodeResolution, encode: encodeResolution },
} satisfies { [Schema in SchemaName]: { decode(data: Hex): ContentOf[Schema]; encode(content: ContentOf[Schema]): Hex } };

/** Decodes strictly: only the canonical encoding is accepted, so that surplus or dirty bytes are noticed. */
export function decodeContent<Schema extends SchemaName>(schema: Schema, data: Hex): Decoded<Schema> {
  const { decode, encode } = CODECS[schema] as unknown as { decode(data: Hex): ContentOf[Schema]; encode(data: ContentOf[Schema]): Hex };
  try {
    const content = decode(data);
    const wrong = findImpossibleNumber(content);
    if (wrong !== null) return { wrong };
    if (encode(content) === data.toLowerCase()) return { data: content };
    return { wrong: unreadable(`its data has more than a ${schema}`) };
  } catch (error) {
    return { wrong: unreadable(getErrorMessage(error)) };
  }
}

function unreadable(because: string): Required<Comparison> {
  return { field: 'data', expected: 'readable', actual: 'unreadable', because };
}

function findImpossibleNumber(content: PredictionData | ResolutionData): Required<Comparison> | null {
  if (!('sequence' in content)) return null;
  const { day, sequence } = content;
  const found = Object.entries({ day, sequence }).find(([, value]) => !(value >= 1 && value <= MAX_RECORD_NUMBER));
  if (found === undefined) return null;
  const [field, actual] = found;
  return { field, expected: `1 to ${MAX_RECORD_NUMBER}`, actual, because: `${field} ${actual} is not possible in a record` };
}
