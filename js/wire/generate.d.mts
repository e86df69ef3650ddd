/** The file, from the text of the document. */
export function generate(text: string): Promise<string>;
