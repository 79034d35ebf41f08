export const FEED_PATH = '/api/svc/open/feed.atom';
export const CALENDAR_PATH = '/api/svc/open/calendar.ics';

export const FEED_MEDIA_TYPE = 'application/atom+xml';
export const CALENDAR_MEDIA_TYPE = 'text/calendar';
