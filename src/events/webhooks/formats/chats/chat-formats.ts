import type { ChatFormat } from '../chat-format.ts';
import type { ChatName } from '../webhook-formats.ts';
import { DISCORD } from './discord.ts';
import { SLACK } from './slack.ts';
import { TELEGRAM } from './telegram.ts';

/** The only list: a further chat is an entry here and in `CHAT_NAMES`. */
export const CHAT_FORMATS = { discord: DISCORD, slack: SLACK, telegram: TELEGRAM } as const satisfies Record<ChatName, ChatFormat>;
