//! What each rule of the table matches by its path: functions, values and methods, each under its usual path. How entries
//! are written is in `index`. A type's method matches a call with a dot too, where the receiver's type can be seen.
//! Absent on purpose: what only describes (types, constants, errors, builders that touch nothing).

pub const CLOCK: &[&str] = &[
    "std::time::{Instant,SystemTime}::{now,elapsed}",
    "tokio::time::Instant::{now,elapsed}",
    "chrono::{,offset}::{Utc,Local}::{now,today}",
    "time::OffsetDateTime::{now_utc,now_local}",
    "time::{UtcDateTime,Instant}::now",
    "time::PrimitiveDateTime::now",
    "jiff::{Timestamp,Zoned}::now",
    "web_time::{Instant,SystemTime}::{now,elapsed}",
    "instant::{Instant,SystemTime}::{now,elapsed}",
    "quanta::{Instant,Clock}::{now,recent,new}",
    "coarsetime::{Instant,Clock}::{now,recent,now_since_epoch,recent_since_epoch,update}",
    "minstant::Instant::{now,elapsed}",
    "fastant::Instant::{now,elapsed}",
    "embassy_time::Instant::now",
    "humantime::Timestamp::now",
    "prost_types::Timestamp::now",
    "hifitime::Epoch::now",
];

pub const RANDOMNESS: &[&str] = &[
    "rand::{random,random_bool,random_iter,random_range,random_ratio,fill,rng,thread_rng,make_rng}",
    "rand::{,rngs}::ThreadRng::default",
    "rand::rngs::{OsRng,SysRng}",
    "rand::rngs::{StdRng,SmallRng}::{from_os_rng,try_from_os_rng,from_entropy,from_rng_os,make_rng}",
    "rand::{,rngs}::{OsRng,SysRng}::default",
    "rand_core::{OsRng,UnwrapErr}",
    "fastrand::{alphabetic,alphanumeric,bool,char,choice,choose_multiple,digit,f32,f64,fill,get_seed,lowercase,seed}",
    "fastrand::{i8,i16,i32,i64,i128,isize,u8,u16,u32,u64,u128,usize,shuffle,uppercase}",
    "fastrand::Rng::{new,default}",
    "getrandom::{fill,fill_uninit,getrandom,getrandom_uninit,u32,u64}",
    "nanorand::tls_rng",
    "oorandom::Rand32::new",
    "ring::rand::SystemRandom::new",
    "std::random::random",
    "std::hash::{,random}::RandomState::{new,default}",
    "std::collections::hash_map::RandomState::{new,default}",
    "ahash::RandomState::{new,default}",
    "names::Generator::default",
    "petname::petname",
];

pub const FRESH_ID: &[&str] = &[
    "uuid::Uuid::{new_v1,new_v4,new_v6,new_v7,now_v1,now_v6,now_v7}",
    "uuid::Timestamp::now",
    "ulid::Ulid::{new,generate}",
    "ulid::Generator::new",
    "rusty_ulid::{generate_ulid_bytes,generate_ulid_string}",
    "ksuid::Ksuid::generate",
    "svix_ksuid::Ksuid::new",
    "cuid::{cuid,cuid1,cuid2,slug}",
    "cuid2::{create_id,cuid}",
    "xid::new",
    "scru128::{new,new_string}",
    "scru64::{new,new_string,new_sync}",
    "type_id::TypeId::new",
    "mti::prelude::create_type_id_suffix",
    "{,mongodb::}bson::oid::ObjectId::new",
];

pub const FRESH_ID_MACROS: &[&str] = &["nanoid::nanoid"];

pub const TIMER: &[&str] = &[
    "tokio::time::{sleep,sleep_until,timeout,timeout_at,interval,interval_at}",
    "tokio_util::time::DelayQueue::{new,with_capacity}",
    "std::thread::{sleep,sleep_ms,sleep_until}",
    "async_std::task::sleep",
    "async_std::{future::timeout,stream::interval,io::timeout}",
    "{smol,async_io}::Timer::{after,at,interval,interval_at,never}",
    "embassy_time::Timer::{after,at,after_secs,after_millis}",
    "futures_timer::Delay::new",
    "futures_time::task::{sleep,sleep_until}",
    "gloo_timers::future::{sleep,TimeoutFuture::new,IntervalStream::new}",
    "crossbeam::channel::{after,at,tick}",
    "crossbeam_channel::{after,at,tick}",
    "{actix_rt,monoio,ntex}::time::{sleep,sleep_until,timeout,interval}",
    "glommio::timer::{sleep,Timer::new,TimerActionOnce::do_in}",
];

pub const SPAWN: &[&str] = &[
    "tokio::spawn",
    "tokio::task::{spawn,spawn_blocking,spawn_local,block_in_place,Builder::new}",
    "tokio::task::{JoinSet,LocalSet}::{new,spawn,spawn_on,spawn_local,spawn_blocking,default}",
    "tokio::runtime::{Runtime::new,Handle::current,Handle::try_current}",
    "tokio::runtime::Builder::{new_current_thread,new_multi_thread}",
    "tokio::runtime::{Runtime,Handle}::{spawn,spawn_blocking}",
    "tokio_util::task::{JoinMap,TaskTracker}::{new,spawn}",
    "std::thread::{spawn,scope,spawn_unchecked,Builder::new}",
    "rayon::{spawn,spawn_fifo,join,scope,scope_fifo,in_place_scope,broadcast,ThreadPoolBuilder::new}",
    "async_std::task::{spawn,spawn_blocking,spawn_local,Builder::new}",
    "smol::{spawn,unblock,Executor::new,LocalExecutor::new}",
    "async_executor::{Executor,LocalExecutor}::new",
    "async_global_executor::{spawn,spawn_blocking,spawn_local}",
    "blocking::unblock",
    "crossbeam::{scope,thread::scope}",
    "crossbeam_utils::thread::scope",
    "futures::executor::{ThreadPool,LocalPool}::new",
    "threadpool::ThreadPool::new",
    "{actix_rt,actix,monoio,tokio_uring,compio,ntex}::spawn",
    "glommio::{spawn_local,LocalExecutor::new,LocalExecutorBuilder::new}",
    "wasm_bindgen_futures::spawn_local",
];

pub const FOREIGN_JOIN: &[&str] = &[
    "futures::future::{join,join3,join4,join5,join_all}",
    "futures::future::{try_join,try_join3,try_join4,try_join5,try_join_all}",
    "{futures_lite,smol}::future::{zip,try_zip}",
    "futures_concurrency::future::{Join::join,TryJoin::try_join}",
    "futures_concurrency::{Join::join,TryJoin::try_join}",
];

pub const FOREIGN_JOIN_MACROS: &[&str] = &[
    "{tokio,futures,futures_micro}::{join,try_join}",
    "futures::future::{join,try_join}",
    "std::future::join",
];

pub const FOREIGN_SELECT: &[&str] = &[
    "futures::future::{select,select_all,select_ok,try_select,SelectAll::new}",
    "futures::stream::{FuturesUnordered,FuturesOrdered}::{new,default,from_iter}",
    "futures::stream::{select,select_all,select_with_strategy,SelectAll::new}",
    "futures::{,stream}::StreamExt::{buffered,buffer_unordered,for_each_concurrent,flatten_unordered,flat_map_unordered}",
    "futures::{,stream}::TryStreamExt::{try_buffered,try_buffer_unordered,try_for_each_concurrent,try_flatten_unordered}",
    "{futures_lite,smol}::future::{or,race}",
    "futures_concurrency::future::{Race::race,RaceOk::race_ok}",
    "futures_concurrency::{Race::race,RaceOk::race_ok}",
];

pub const FOREIGN_SELECT_MACROS: &[&str] = &[
    "{tokio,monoio,futures_micro,crossbeam,crossbeam_channel,crossbeam::channel}::select",
    "futures::{select,select_biased}",
    "{crossbeam,crossbeam_channel,crossbeam::channel}::select_biased",
];

pub const SYNC_PRIMITIVE: &[&str] = &[
    "std::sync::{mpsc,mpmc}::{channel,sync_channel}",
    "std::sync::{Mutex,RwLock,Condvar,Barrier,ReentrantLock}::*",
    "std::sync::{mpsc,mpmc}::{Sender,SyncSender,Receiver}::*",
    "tokio::sync::{Mutex,RwLock,Semaphore,Notify,Barrier,OnceCell,SetOnce}::*",
    "tokio::sync::{mpsc::channel,mpsc::unbounded_channel,oneshot::channel,watch::channel,broadcast::channel}",
    "tokio::sync::{mpsc,oneshot,watch,broadcast}::{Sender,Receiver,UnboundedSender,UnboundedReceiver}::*",
    "tokio_util::sync::{CancellationToken,PollSemaphore}::*",
    "parking_lot::{Mutex,RwLock,FairMutex,ReentrantMutex,Condvar}::*",
    "spin::{Mutex,RwLock,Barrier,mutex::Mutex,rwlock::RwLock}::*",
    "{crossbeam::channel,crossbeam_channel}::{bounded,unbounded,never}",
    "{crossbeam::channel,crossbeam_channel}::{Sender,Receiver,Select}::*",
    "{crossbeam::sync,crossbeam_utils::sync}::{WaitGroup,Parker,ShardedLock}::*",
    "{flume,async_channel,kanal,loole,thingbuf::mpsc}::{bounded,unbounded,channel,bounded_async,unbounded_async}",
    "{flume,async_channel,kanal,loole}::{Sender,Receiver}::*",
    "async_broadcast::broadcast",
    "async_lock::{Mutex,RwLock,Semaphore,Barrier}::*",
    "async_std::{channel::bounded,channel::unbounded}",
    "async_std::sync::{Mutex,RwLock,Barrier,Condvar}::*",
    "smol::{channel::bounded,channel::unbounded}",
    "smol::lock::{Mutex,RwLock,Semaphore,Barrier}::*",
    "futures::channel::{mpsc::channel,mpsc::unbounded,oneshot::channel}",
    "futures::channel::{mpsc,oneshot}::{Sender,Receiver,UnboundedSender,UnboundedReceiver}::*",
    "futures::lock::{Mutex,BiLock}::*",
    "event_listener::Event::new",
    "dashmap::{DashMap,DashSet}::*",
];

pub const IO: &[&str] = &[
    // Files.
    "std::fs::*",
    "std::fs::{File,OpenOptions,DirBuilder}::*",
    "std::os::{unix,windows}::fs::*",
    "std::path::{Path,PathBuf}::{exists,try_exists,is_file,is_dir,is_symlink,metadata,symlink_metadata}",
    "std::path::{Path,PathBuf}::{canonicalize,read_dir,read_link}",
    "{fs_err,tokio::fs,async_std::fs,smol::fs,async_fs}::**",
    "tempfile::{tempfile,tempdir,NamedTempFile::new,TempDir::new}",
    "walkdir::WalkDir::new",
    "glob::glob",
    "memmap2::{Mmap,MmapMut}::*",
    // Networks.
    "std::net::{TcpStream,TcpListener,UdpSocket}::*",
    "std::net::ToSocketAddrs::to_socket_addrs",
    "std::os::unix::net::{UnixStream,UnixListener,UnixDatagram}::*",
    "tokio::net::{lookup_host,TcpStream::connect,TcpListener::bind,UdpSocket::bind}",
    "tokio::net::{TcpStream,TcpListener,TcpSocket,UdpSocket,UnixStream,UnixListener,UnixDatagram}::*",
    "{async_std::net,smol::net,async_net}::{TcpStream,TcpListener,UdpSocket}::*",
    "{async_std::process,smol::process,async_process}::Command::*",
    "socket2::Socket::*",
    // Processes and standard streams.
    "{std,tokio}::process::{Command,Child}::*",
    "{std,tokio,async_std}::io::{stdin,stdout,stderr}",
    "tokio::signal::{ctrl_c,unix::signal}",
    "ctrlc::set_handler",
    "duct::cmd",
    // Clients.
    "reqwest::{get,Client::new,Client::builder,Client::default,Client::execute,ClientBuilder::new,ClientBuilder::default}",
    "hyper::{Client::new,Client::builder,client::conn::http1::handshake,client::conn::http2::handshake}",
    "hyper_util::client::legacy::Client::*",
    "ureq::{get,post,put,delete,head,patch,options,trace,connect,request,request_url,run,agent,builder}",
    "ureq::{Agent,AgentBuilder}::{new,new_with_defaults,new_with_config}",
    "{isahc,surf,minreq,attohttpc}::{get,post,put,delete,head,patch,send}",
    "isahc::{HttpClient::new,HttpClient::builder}",
    "awc::Client::{new,default,builder}",
    "curl::easy::{Easy,Easy2}::new",
    "tonic::transport::{Channel,Endpoint}::{connect,connect_lazy}",
    "tokio_tungstenite::{connect_async,accept_async}",
    "tungstenite::{connect,accept}",
    "lettre::{SmtpTransport,AsyncSmtpTransport}::{relay,starttls_relay}",
    "lapin::Connection::connect",
    "{async_nats,nats}::connect",
    "rdkafka::ClientConfig::create",
    "aws_config::{load_from_env,load_defaults,from_env,defaults}",
    "aws_sdk_*::Client::{new,from_conf}",
    // Databases.
    "sqlx::{PgPool,MySqlPool,SqlitePool,AnyPool,Pool}::{connect,connect_with,connect_lazy,connect_lazy_with}",
    "sqlx::{PgConnection,MySqlConnection,SqliteConnection,AnyConnection,Connection}::connect",
    "sqlx::{postgres::PgPoolOptions,mysql::MySqlPoolOptions,sqlite::SqlitePoolOptions,pool::PoolOptions}::new",
    "rusqlite::Connection::{open,open_in_memory,open_with_flags}",
    "diesel::{Connection,PgConnection,MysqlConnection,SqliteConnection}::establish",
    "diesel::{pg::PgConnection,mysql::MysqlConnection,sqlite::SqliteConnection}::establish",
    "diesel_async::{AsyncConnection,AsyncPgConnection,AsyncMysqlConnection}::establish",
    "redis::Client::{open,get_connection,get_multiplexed_async_connection}",
    "fred::{clients::Client,clients::RedisClient}::new",
    "postgres::{Client::connect,Config::connect}",
    "tokio_postgres::{connect,Config::connect}",
    "{mysql,mysql_async}::{Pool,Conn}::new",
    "{r2d2,bb8}::Pool::{new,builder}",
    "mongodb::Client::{with_uri_str,with_options}",
    "mongodb::sync::Client::{with_uri_str,with_options}",
    "sea_orm::Database::connect",
    "surrealdb::Surreal::{new,connect}",
    "elasticsearch::Elasticsearch::{new,default}",
    "sled::{open,Config::open}",
    "rocksdb::DB::{open,open_default,open_cf}",
    "redb::Database::{create,open}",
];

pub const ENVIRONMENT: &[&str] = &[
    "std::env::{var,var_os,vars,vars_os,args,args_os,set_var,remove_var}",
    "std::env::{current_dir,current_exe,set_current_dir,temp_dir,home_dir}",
    "std::process::{id,parent_id}",
    "std::thread::{current,available_parallelism}",
    "tokio::task::{id,try_id}",
    "{dotenv,dotenvy}::{dotenv,var,vars,from_filename,from_path,dotenv_override}",
    "envy::{from_env,prefixed}",
    "hostname::get",
    "gethostname::gethostname",
    "whoami::*",
    "num_cpus::{get,get_physical}",
    "sysinfo::{System,Disks,Networks,Components,Users}::*",
    "sys_info::*",
    "sys_locale::{get_locale,get_locales}",
    "iana_time_zone::get_timezone",
    "dirs::*",
    "directories::{ProjectDirs,UserDirs,BaseDirs}::*",
    "machine_uid::get",
    "mac_address::get_mac_address",
    "nix::unistd::{gethostname,getpid,getppid,gettid,getuid,getcwd}",
    "rustix::process::{getpid,getppid,getuid,getcwd}",
    "chrono::{,offset}::Local",
    "time::UtcOffset::{current_local_offset,local_offset_at}",
    "jiff::tz::TimeZone::{system,try_system}",
    "clap::Parser::{parse,try_parse}",
];

pub const ENVIRONMENT_MACROS: &[&str] = &["std::{env,option_env}"];

pub const GLOBAL_STATE: &[&str] = &[
    "std::sync::{OnceLock,LazyLock,Once}::*",
    "std::cell::{OnceCell,LazyCell}::*",
    "std::sync::atomic::{AtomicBool,AtomicI8,AtomicI16,AtomicI32,AtomicI64,AtomicIsize,AtomicPtr}::*",
    "std::sync::atomic::{AtomicU8,AtomicU16,AtomicU32,AtomicU64,AtomicUsize}::*",
    "portable_atomic::{AtomicBool,AtomicU32,AtomicU64,AtomicUsize,AtomicI32,AtomicI64,AtomicU128}::*",
    "once_cell::{sync,unsync}::{OnceCell,Lazy}::*",
    "arc_swap::{ArcSwap,ArcSwapOption,ArcSwapAny}::*",
];

pub const GLOBAL_STATE_MACROS: &[&str] = &["std::thread_local", "lazy_static::lazy_static", "tokio::task_local"];

pub const ADDRESS_OR_HASH: &[&str] = &[
    "std::hash::DefaultHasher::{new,default}",
    "std::collections::hash_map::DefaultHasher::{new,default}",
    "std::hash::BuildHasher::{build_hasher,hash_one}",
    "std::any::{type_name,type_name_of_val,TypeId::of}",
    "std::ptr::{eq,addr_eq,fn_addr_eq,hash,from_ref,from_mut}",
    "std::{sync::Arc,rc::Rc}::{as_ptr,ptr_eq,into_raw}",
    "std::{sync::Weak,rc::Weak}::{as_ptr,ptr_eq,into_raw}",
];

pub const ADDRESS_OR_HASH_MACROS: &[&str] = &["std::ptr::{addr_of,addr_of_mut}"];

pub const PRINTING_MACROS: &[&str] = &[
    "std::{print,println,eprint,eprintln,dbg}",
    "log::{error,warn,info,debug,trace,log}",
    "slog::{crit,error,warn,info,debug,trace,log}",
    "defmt::{error,warn,info,debug,trace,println}",
];

pub const BLOCKING: &[&str] = &[
    "futures::executor::{block_on,block_on_stream}",
    "{futures_lite,smol}::future::block_on",
    "{pollster,smol,async_io,async_global_executor,tokio_test,spin_on}::block_on",
    "pollster::FutureExt::block_on",
    "async_std::task::block_on",
    "tokio::runtime::{Runtime,Handle}::block_on",
    "std::thread::{park,park_timeout,park_timeout_ms,yield_now,JoinHandle::join}",
    "std::sync::mpsc::Receiver::{recv,recv_timeout,iter}",
    "tokio::sync::Mutex::{blocking_lock,blocking_lock_owned}",
    "tokio::sync::RwLock::{blocking_read,blocking_write}",
    "tokio::sync::{mpsc,oneshot,broadcast}::{Receiver,UnboundedReceiver}::{blocking_recv,blocking_recv_many}",
    "tokio::sync::mpsc::Sender::blocking_send",
    "reqwest::blocking::{get,Client::new,Client::builder,ClientBuilder::new}",
    "std::hint::spin_loop",
];

pub const UNSAFE_OR_EXIT: &[&str] = &[
    "std::process::{exit,abort,ExitCode::exit_process}",
    "std::panic::{catch_unwind,resume_unwind,panic_any,set_hook,take_hook,update_hook}",
    "futures::FutureExt::catch_unwind",
    "std::intrinsics::**",
    "libc::{exit,_exit,abort}",
];

pub const UNSAFE_OR_EXIT_MACROS: &[&str] = &["std::arch::{asm,global_asm,naked_asm}"];
