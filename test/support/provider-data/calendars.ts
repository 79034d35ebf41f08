/** The calendar page of the Federal Reserve, with months and days of meetings by year. */
export function fomcPage(years: Record<number, [months: string, days: string][]>): string {
  const panels = Object.entries(years).map(([year, meetings]) => {
    const rows = meetings.map(
      ([months, days], index) =>
        `<div class="${index % 2 === 1 ? 'fomc-meeting--shaded ' : ''}row fomc-meeting"><div class="fomc-meeting__month col-xs-5"><strong>${months}</strong></div><div class="fomc-meeting__date col-xs-4">${days}</div></div>`,
    );
    return `<div class="panel panel-default"><div class="panel-heading"><h4><a id="1">${year} FOMC Meetings</a></h4></div>${rows.join('\n')}</div>`;
  });
  return `<!DOCTYPE html><html><body>${panels.join('\n')}</body></html>\n`;
}

/** The release calendar of the Bureau of Labor Statistics. */
export function blsCalendar(events: readonly (readonly [start: string, summary: string])[]): string {
  const lines = events.flatMap(([start, summary]) => [
    'BEGIN:VEVENT',
    `DTSTART;TZID=US-Eastern:${start}`,
    'DURATION:PT0M',
    `SUMMARY:${summary}`,
    String.raw`LOCATION:Washington\, DC`,
    'END:VEVENT',
  ]);
  return `${['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR'].join('\r\n')}\r\n`;
}
