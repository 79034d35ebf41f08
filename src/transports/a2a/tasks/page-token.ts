import { z } from 'zod';
import { OracleError } from '../../../platform/errors.ts';
import { parseJsonOrNull } from '../../../platform/validation/parse-json.ts';

export interface PageCursor {
  statusAt: Date;
  id: string;
}

const MAX_TOKEN_CHARACTERS = 300;

const PAGE_TOKEN = z.tuple([z.int().min(0).max(8.64e15), z.string().min(1).max(128)]);

export function encodePageToken({ statusAt, id }: PageCursor): string {
  return Buffer.from(JSON.stringify([statusAt.getTime(), id])).toString('base64url');
}

/** @throws OracleError INPUT_INVALID for a token that was not issued here */
export function parsePageToken(token: string): PageCursor {
  const parsed =
    token.length > MAX_TOKEN_CHARACTERS
      ? undefined
      : PAGE_TOKEN.safeParse(parseJsonOrNull(Buffer.from(token, 'base64url').toString('utf8'))).data;
  if (parsed === undefined) {
    const suggestedAction = 'Send nextPageToken of the page before as it is, or leave it out for the first page.';
    throw new OracleError('INPUT_INVALID', 'This page token was not issued here', { field: 'pageToken', suggestedAction });
  }
  return { statusAt: new Date(parsed[0]), id: parsed[1] };
}
