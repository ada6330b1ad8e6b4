/** The choices of selection fields of several models: languages and time zones. */
export const languages = [['en_US', 'English (US)']] as const;

export const timeZones = [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])]
  .sort()
  .map((zone) => [zone, zone] as const);
