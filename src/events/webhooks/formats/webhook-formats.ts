export const CHAT_NAMES = ['discord', 'slack', 'telegram'] as const;
export const WEBHOOK_FORMATS = ['json', ...CHAT_NAMES] as const;

export type ChatName = (typeof CHAT_NAMES)[number];
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];
