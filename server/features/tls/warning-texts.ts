/** What browsers may complain of in a certificate, by code. Pages have words of their own for each, in each language. */
export const warningTexts = {
  "other-name": "It does not name {{host}}, under which people open this appliance: browsers will refuse it.",
  "chain-incomplete": 'The chain is incomplete: the certificate of "{{issuer}}" is missing.',
  "ends-soon": "It ends in {{days}} days.",
} as const;
export type WarningCode = keyof typeof warningTexts;
