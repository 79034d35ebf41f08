import { createHash, randomBytes } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import type { CollectionIndexes } from '../../platform/mongo.ts';
import { insertFirst } from '../../platform/uncertain-write.ts';

export const TICKET_SECONDS = 30;

const TICKET_BYTES = 32;
const COLLECTION = 'websocket_tickets';

export const TICKET_INDEXES = [{ collection: COLLECTION, indexes: [{ key: { expiresAt: 1 } }] }] as const satisfies CollectionIndexes[];

/** Single-use tickets for a handshake, for clients that must not put their token into a URL. */
export class TicketStore {
  readonly #tickets: Collection<{ _id: string; credentialId: string; expiresAt: Date }>;
  readonly #now: () => Date;

  constructor({ db, now }: { db: Db; now(): Date }) {
    this.#tickets = db.collection(COLLECTION);
    this.#now = now;
  }

  /** @param credentialId of the session or API key that opens the connection */
  async issue(credentialId: string): Promise<{ ticket: string; expiresAt: Date }> {
    const ticket = randomBytes(TICKET_BYTES).toString('base64url');
    const expiresAt = new Date(this.#now().getTime() + TICKET_SECONDS * 1_000);
    await insertFirst(this.#tickets, { _id: hashTicket(ticket), credentialId, expiresAt }, '_id');
    return { ticket, expiresAt };
  }

  /** Does not redeem it; null if it is used, expired or unknown. */
  async findCredentialId(ticket: string): Promise<string | null> {
    const issued = await this.#tickets.findOne({ _id: hashTicket(ticket) });
    return issued === null || issued.expiresAt <= this.#now() ? null : issued.credentialId;
  }

  /** Redeems a ticket atomically: true for one caller only, and for none after it has expired. */
  async redeem(ticket: string): Promise<boolean> {
    const issued = await this.#tickets.findOneAndDelete({ _id: hashTicket(ticket) });
    return issued !== null && issued.expiresAt > this.#now();
  }

  async purge(now: Date): Promise<void> {
    await this.#tickets.deleteMany({ expiresAt: { $lte: now } });
  }
}

function hashTicket(ticket: string): string {
  return createHash('sha256').update(ticket).digest('hex');
}
