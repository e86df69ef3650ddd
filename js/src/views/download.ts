/** Hand a file to the browser's downloads. */
export function saveAs(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName(name);
  link.click();
  // The browser has taken it over once the click is done with.
  setTimeout(() => {
    URL.revokeObjectURL(url);
  });
}

/** Without what file systems do not allow in names. */
export function fileName(name: string): string {
  return name.replace(/[\\/:*?"<>|\p{Cc}]+/gu, '-').slice(-120);
}
