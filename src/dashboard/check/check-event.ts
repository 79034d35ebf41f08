/** Event on the document that starts the check of the whole record, unless it runs. */
export const CHECK_EVENT = 'oracle-check';
