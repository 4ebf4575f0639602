/**
 * Types of the API: SQLite's own part as far as programs usually touch it (https://sqlite.org/wasm says it
 * all), and this package's. No code.
 */

/** @typedef {import('./keys.js').KeyOptions} KeyOptions */
/** @typedef {import('./functions.js').SettingFunctions} SettingFunctions */
/** @typedef {import('./functions.js').FileFunctions} FileFunctions */
/** @typedef {import('./functions.js').PageCallback} PageCallback */
/** @typedef {import('./import.js').Bytes} Bytes */
/** @typedef {import('./import.js').ChunkCallback} ChunkCallback */
/** @typedef {import('./loader.js').InitOptions} InitOptions */
/** @typedef {import('./loader.js').Variant} Variant */

/** @typedef {null | undefined | boolean | number | bigint | string | Uint8Array | Int8Array | ArrayBuffer} Bindable what can be bound to an SQL parameter */
/** @typedef {Bindable | Bindable[] | {[name: string]: Bindable}} Bindings one value, values by position, or values by name */
/** @typedef {null | number | bigint | string | Uint8Array} SqlValue what a column can hold */

/**
 * @typedef {object} OpenOptions
 * @property {string} [filename] ":memory:" by default
 * @property {string} [flags] of "c" (create), "w" (write), "r" (read), "t" (trace to the console); default "c"
 * @property {string | null} [vfs] name of a VFS; the encrypting one is put over it
 */
/** @typedef {OpenOptions & KeyOptions} DbOptions */

/**
 * @typedef {object} ExecOptions
 * @property {string | string[] | Uint8Array} [sql]
 * @property {Bindings} [bind]
 * @property {(row: any, statement: Stmt) => false | void} [callback] false ends the iteration
 * @property {string[]} [columnNames] gets the names
 * @property {any[]} [resultRows] gets the rows
 * @property {'array' | 'object' | 'stmt' | number | string} [rowMode]
 * @property {'this' | 'resultRows' | 'saveSql'} [returnValue]
 * @property {string[]} [saveSql]
 */

/**
 * A prepared statement; made by DB.prepare().
 * @typedef {object} Stmt
 * @property {number | undefined} pointer
 * @property {DB} db
 * @property {number} columnCount
 * @property {number} parameterCount
 * @property {(...values: any[]) => Stmt} bind
 * @property {() => boolean} step
 * @property {(alsoClearBinds?: boolean) => Stmt} reset
 * @property {() => Stmt} stepReset
 * @property {() => boolean} stepFinalize
 * @property {() => Stmt} clearBindings
 * @property {() => number | undefined} finalize
 * @property {(index: number | any[] | object, asType?: number) => any} get
 * @property {(index: number) => string} getColumnName
 * @property {(names?: string[]) => string[]} getColumnNames
 * @property {(index: number) => string | null} getString
 * @property {(index: number) => number | null} getInt
 * @property {(index: number) => number | null} getFloat
 * @property {(index: number) => Uint8Array | null} getBlob
 * @property {(index: number) => any} getJSON
 * @property {(name: string) => number | undefined} getParamIndex
 * @property {() => boolean} isReadOnly
 */

/**
 * A database connection.
 * @typedef {object} DB
 * @property {number | undefined} pointer `sqlite3*`; undefined when closed
 * @property {string} filename
 * @property {() => void} close
 * @property {() => boolean} isOpen
 * @property {(schema?: string) => string} dbFilename
 * @property {(schemaNumber?: number) => string | null} dbName
 * @property {(schema?: string | number) => string | undefined} dbVfsName
 * @property {(total?: boolean, as64?: boolean) => number | bigint} changes
 * @property {(resultCode: number) => DB} checkRc throws SQLite3Error unless the code is 0
 * @property {(sql: string | string[] | Uint8Array | ExecOptions, options?: ExecOptions) => any} exec
 * @property {(sql: string) => Stmt} prepare
 * @property {(sql: string, bind?: Bindings, asType?: number) => any} selectValue
 * @property {(sql: string, bind?: Bindings, asType?: number) => any[]} selectValues
 * @property {(sql: string, bind?: Bindings) => SqlValue[] | undefined} selectArray
 * @property {(sql: string, bind?: Bindings) => SqlValue[][]} selectArrays
 * @property {(sql: string, bind?: Bindings) => {[column: string]: SqlValue} | undefined} selectObject
 * @property {(sql: string, bind?: Bindings) => {[column: string]: SqlValue}[]} selectObjects
 * @property {() => number} openStatementCount
 * @property {{<T>(body: (db: DB) => T): T, <T>(qualifier: string, body: (db: DB) => T): T}} transaction
 * @property {<T>(body: (db: DB) => T) => T} savepoint
 * @property {(name: string | object, ...definition: any[]) => DB} createFunction
 */

/**
 * @typedef {object} DbClass
 * @property {DB} prototype
 */
/** @typedef {DbClass & (new (options?: DbOptions) => DB) & (new (filename?: string, flags?: string, vfs?: string | null) => DB)} DbConstructor */
/** @typedef {DbConstructor & {importDb(filename: string, source: Bytes | ChunkCallback): Promise<number>}} OpfsDbConstructor */

/**
 * What installOpfsSAHPoolVfs() gives: a pool of OPFS files with a VFS of its own.
 * @typedef {object} SAHPool
 * @property {string} vfsName
 * @property {DbConstructor} OpfsSAHPoolDb
 * @property {(count: number) => Promise<number>} addCapacity
 * @property {(count: number) => Promise<number>} reduceCapacity
 * @property {(count: number) => Promise<number>} reserveMinimumCapacity
 * @property {() => number} getCapacity
 * @property {() => number} getFileCount
 * @property {() => string[]} getFileNames
 * @property {(name: string) => Uint8Array} exportFile
 * @property {{(name: string, source: Bytes): number, (name: string, source: ChunkCallback): Promise<number>}} importDb
 * @property {(name: string) => boolean} unlink
 * @property {() => Promise<void>} wipeFiles
 * @property {() => Promise<boolean>} removeVfs
 * @property {() => SAHPool} pauseVfs
 * @property {() => Promise<SAHPool>} unpauseVfs
 * @property {() => boolean} isPaused
 */

/**
 * @typedef {object} SAHPoolOptions
 * @property {string} [name]
 * @property {string} [directory]
 * @property {number} [initialCapacity]
 * @property {boolean} [clearOnInit]
 * @property {number} [verbosity]
 * @property {boolean} [forceReinitIfPreviouslyFailed]
 */

/** @typedef {Error & {resultCode: number, cause?: unknown}} SQLite3Error an error with SQLite's result code */

/** @typedef {number} Address of memory of the module; 0: none */
/** @typedef {Address | {pointer?: Address}} Handle a C pointer, or an object that has one */
/** @typedef {string | Bytes | number | null | undefined} KeyArgument text, bytes, or the address of bytes */

/**
 * The C functions about keys. With text or bytes the size is known and may be left out.
 * @typedef {object} KeyFunctions
 * @property {(db: Handle, key: KeyArgument, size?: number) => number} sqlite3_key
 * @property {(db: Handle, schema: string | null, key: KeyArgument, size?: number) => number} sqlite3_key_v2
 * @property {(db: Handle, key?: KeyArgument, size?: number) => number} sqlite3_rekey
 * @property {(db: Handle, schema: string | null, key?: KeyArgument, size?: number) => number} sqlite3_rekey_v2
 * @property {(text: string) => void} sqlite3_activate_see
 */
/** @typedef {new (pointer?: number) => any} StructClass */
/**
 * @typedef {KeyFunctions & SettingFunctions & FileFunctions
 *   & {[name: `SQLITE3MC_${string}`]: number}
 *   & {sqlite3_vfs: StructClass, sqlite3_file: StructClass, sqlite3_io_methods: StructClass, sqlite3_module: StructClass}
 *   & {[name: `sqlite3_${string}`]: any, [name: `SQLITE_${string}`]: number}} Capi the C API
 */

/**
 * Access to the module's memory and functions.
 * @typedef {{
 *   exports: Record<string, any>,
 *   alloc(size: number): number,
 *   dealloc(address: number): void,
 *   heap8u(): Uint8Array,
 *   cstrToJs(address: number): string,
 *   xCallWrapped(name: string, result: string | undefined, parameters: string[], ...args: any[]): any,
 *   [name: string]: any,
 * }} Wasm
 */

/**
 * SQLite. Classes and functions that need storage of the browser exist where that storage does.
 * @typedef {object} Sqlite3
 * @property {Capi} capi
 * @property {Wasm} wasm
 * @property {{DB: DbConstructor, OpfsDb?: OpfsDbConstructor, OpfsWlDb?: OpfsDbConstructor, JsStorageDb?: DbConstructor}} oo1
 * @property {(options?: SAHPoolOptions) => Promise<SAHPool>} [installOpfsSAHPoolVfs] rejects with SQLITE_BUSY
 *   when another worker or tab has the pool open, and with SQLITE_CANTOPEN where there is no OPFS
 * @property {new (...args: any[]) => SQLite3Error} SQLite3Error
 * @property {new (...args: any[]) => Error} WasmAllocError
 * @property {{libVersion: string, libVersionNumber: number, sourceId: string, downloadVersion: number, scm: object}} version
 * @property {{installVfs(options: object): any, [name: string]: any}} vfs
 * @property {Record<string, any>} vtab
 * @property {Record<string, any>} config
 * @property {() => void} initWorker1API
 * @property {{readonly version: string, readonly variant: Variant | undefined}} mc name and version of this
 *   library, and which of the .wasm files runs (undefined if the program brought its own)
 * @property {any} client the application's own
 */

/** @typedef {(type: string | object, args?: any) => Promise<any>} Worker1Function sends one message to SQLite's worker */
/** @typedef {(config?: object | (() => void)) => Promise<Worker1Function>} Worker1Promiser */

export {};
