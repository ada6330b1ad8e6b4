/**
 * Recorded calls that the sandbox answers with other values, by version and name. `ours` describes the difference. An
 * entry whose difference does not occur fails the test.
 */
export interface Explained {
  readonly calls: RegExp;
  readonly ours: RegExp;
  readonly reason: string;
}

export const explained: readonly Explained[] = [
  {
    calls:
      /^\d+ (count-unsearchable|name-search)-(stock\.quant|stock\.picking|account\.move|account\.account)-/,
    ours: /^odoo\.exceptions\.UserError: Object (stock|account)\.\w+ doesn't exist/,
    reason: 'The sandbox has no warehouse and no invoices.',
  },
  {
    calls: /^1[89] spreadsheet-names$/,
    ours: /^odoo\.exceptions\.UserError: Object spreadsheet\.dashboard doesn't exist/,
    reason: 'The sandbox has no spreadsheets.',
  },
  {
    calls: /^1[4-7] signup-url$/,
    ours: /^builtins\.ValueError: Invalid field 'signup_url' on model 'res\.partner'/,
    reason: 'The sandbox has no portal.',
  },
  {
    calls: /^\d+ portal-url$/,
    ours: /^result "\/my\/orders\/3\?access_token=[\da-f-]{36}&report_type=pdf", recorded/,
    reason: 'The recording has placeholders for the id and the token.',
  },
  {
    calls: /^\d+ activity-data$/,
    ours: /^builtins\.AttributeError: .*get_activity_data/,
    reason: 'The sandbox does not imitate what only views ask for.',
  },
  {
    calls:
      /^(1[4-8] name-search-named-args|19 name-search-named-domain|\d+ name-search-res\.partner-Azure_Interi)$/,
    ours: /^result \[\[15, "Azure Interior"\], \[35, "Azure Interior, Brandon Freeman"\]/,
    reason: 'Contacts of the sandbox have other ids.',
  },
  {
    calls: /^\d+ name-search-product\.product-\[E-COM11\]_Ca$/,
    ours: /^result \[\], recorded \[\[\d+, "\[E-COM11\] Cabinet with Doors"\]\]/,
    reason: 'The sandbox sells other products.',
  },
  {
    calls: /^\d+ name-search-sale\.order\.line-Large_Cabine$/,
    ours: /^result \[\[12, "S00006 - Large Cabinet/,
    reason: 'An order of the sandbox has a Large Cabinet.',
  },
  {
    calls: /^\d+ attachment-search(-id)?$/,
    ours: /^result 0, recorded \d+/,
    reason: 'The sandbox begins without files. Its tests of files cover which ones a search hides.',
  },
  {
    calls: /^1[789] web-read-states$/,
    ours: /"name": "California"/,
    reason: 'The sandbox has two states of the United States.',
  },
];
