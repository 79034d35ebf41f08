/** A message as its parts, without the markup of any chat. All texts are plain and have no line breaks. */
export interface ChatMessage {
  title: string;
  fields: readonly ChatField[];
  note: string;
  link: { label: string; url: string };
}

export type ChatField = readonly [label: string, value: string];

/** Length of text that other parties have written. */
export const MAX_EXTERNAL_CHARS = 200;
