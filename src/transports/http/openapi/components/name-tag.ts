/** Key under which a schema carries the name of the constant that it was made from; never served. */
export const NAME_TAG = 'x-schema-name';
