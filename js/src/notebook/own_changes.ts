/** Tells what we change from what the person changes: a document reports both alike. */
export class OwnChanges {
  get isActive(): boolean {
    return this._depth > 0;
  }

  run<T>(change: () => T): T {
    this._depth += 1;
    try {
      return change();
    } finally {
      this._depth -= 1;
    }
  }

  private _depth = 0;
}
